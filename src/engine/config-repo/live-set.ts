/**
 * An ApplicationSet that is not applied as it stands in Git: kustomize patches it, Helm makes it, or nobody can say how it comes to be.
 * What a commit would make of it is judged by the live one, with what the commit says at the places of the pins.
 */
import { posix } from "node:path";
import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { committedSources } from "../../core/argocd/decode/source.ts";
import { isRecord } from "../../core/base/is-record.ts";
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { findPin } from "../../core/pins/find.ts";
import { splice } from "../../core/pins/splice.ts";
import { type Edit, filesOf } from "../../core/plan/plan-types.ts";
import type { MadeBy } from "./appset-in-git.ts";
import { filesTakenBy, kustomizationsIn, takersOf } from "./kustomize.ts";

/** Who changes the manifest on its way, as far as the repo says; undefined: it is applied as it stands. */
export function makerOf(files: RepoFiles, file: string, kustomizations = kustomizationsIn(files)): MadeBy | undefined {
  if (chartOf(files, file) !== undefined) return "helm";
  return takersOf(kustomizations, file).length > 0 ? "kustomize" : undefined;
}

/** The folder of the chart that a file is a template of. */
export function chartOf(files: RepoFiles, file: string): string | undefined {
  const [, folder] = /^(.*?)(?:^|\/)templates\//.exec(file) ?? [];
  if (folder === undefined) return undefined;
  return files.paths().includes(posix.join(folder, "Chart.yaml")) ? folder : undefined;
}

/** A template of a chart that makes ApplicationSets: the first that names this one, or else the first of all. */
export function chartTemplate(files: RepoFiles, name: string): string | undefined {
  const templates = files
    .paths()
    .filter((path) => /(?:^|\/)templates\/.*\.(?:ya?ml|tpl)$/.test(path))
    .map((path) => ({ path, text: readOrNull(files, path) ?? "" }))
    .filter(({ path, text }) => /^kind:\s*["']?ApplicationSet\b/m.test(text) && chartOf(files, path) !== undefined);
  return (templates.find(({ text }) => text.includes(name)) ?? templates[0])?.path;
}

/** The first of the edited files, beside the manifest itself, that the set is made from: what comes of that is not known here. */
export function feedingFile(files: RepoFiles, file: string, edits: readonly Edit[], plane: ControlPlane): string | undefined {
  const others = [...new Set(edits.flatMap((edit) => filesOf(edit).filter((one) => one !== file)))];
  if (others.length === 0 || file === "") return undefined;
  const chart = chartOf(files, file);
  if (chart === undefined) {
    const kustomizations = kustomizationsIn(files);
    const taken = takersOf(kustomizations, file).flatMap((folder) => [...filesTakenBy(kustomizations, folder)]);
    return others.find((other) => taken.includes(other));
  }
  const values = plane.applications().flatMap(({ spec }) =>
    committedSources(spec).flatMap(({ path, rest }) => {
      const helm = isRecord(rest?.["helm"]) ? rest["helm"]["valueFiles"] : undefined;
      const own = posix.join(path ?? "", ".") === posix.join(chart, ".") && Array.isArray(helm) ? helm : [];
      return own.map((one) =>
        String(one).startsWith("/") ? String(one).slice(1) : posix.join(chart, String(one).replace(/^\$[^/]+\//, "")),
      );
    }),
  );
  return others.find((other) => chart === "" || other.startsWith(`${chart}/`) || values.includes(other));
}

/**
 * The live spec with what a commit's manifest says at the pins; `lost`: a pin that is not at its place in the live one, or not in
 * the manifest, or of a kind that says more than one value.
 */
export function liveWithPins(
  live: Readonly<Record<string, unknown>>,
  text: string | null,
  edits: readonly Edit[],
): { spec: Readonly<Record<string, unknown>>; lost: string | undefined } {
  const changes: { path: string; part?: Edit["part"]; create?: boolean | undefined; value: string }[] = [];
  const own = edits.filter((edit) => edit.kind !== "branch");
  let lost = own.find((edit) => edit.kind !== "value")?.path;
  const liveText = JSON.stringify({ spec: live }, null, 1);
  for (const edit of own) {
    if (edit.kind !== "value" || text === null) continue;
    // Documents of the file are not those of the live object, which stands alone.
    const path = edit.path.replace(/^#\d+\//, "");
    const [here, there] = [findPin(text, edit), findPin(liveText, { ...edit, path })];
    const value = here.ok ? here.found.value : null;
    if (!here.ok || !there.ok || (value === null && there.found.value !== null)) lost ??= edit.path;
    else if (value !== null && value !== there.found.value) changes.push({ ...edit, path, value });
  }
  if (changes.length === 0) return { spec: live, lost };
  const changed = splice(liveText, changes);
  if (!changed.ok) return { spec: live, lost: lost ?? changes[changed.edit ?? 0]?.path };
  return { spec: (JSON.parse(changed.text) as { spec: Record<string, unknown> }).spec, lost };
}
