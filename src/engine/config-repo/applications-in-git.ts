/** Applications that people write themselves: what the config repo says of those whose pins stand in their own manifests. */
import { generatePathsOf } from "../../core/argocd/decode/application.ts";
import { intendedOf } from "../../core/argocd/decode/source.ts";
import type { Intended } from "../../core/argocd/liveness/types.ts";
import { defined } from "../../core/base/defined.ts";
import { isRecord } from "../../core/base/is-record.ts";
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import type { PlannedTarget } from "../../core/plan/plan-types.ts";
import { manifestIn, type RenderedSpecs } from "./appset-in-git.ts";
import { type Kustomizations, kustomizationsIn } from "./kustomize.ts";
import { makerOf } from "./live-set.ts";

export type DeclaredTarget = Pick<PlannedTarget, "key" | "edits">;

/**
 * By control plane, what the edited manifests of targets say. One that is patched or templated on its way to the cluster, or that several
 * files declare, says too little: of it only the files are told.
 */
export function declaredSpecs(files: RepoFiles, targets: readonly DeclaredTarget[]): ReadonlyMap<string, RenderedSpecs> {
  const planes = new Map<string, Map<string, Intended> & { madeFrom: Set<string> }>();
  const seen = new Set<string>();
  let kustomizations: Kustomizations | undefined;
  for (const { key, edits } of targets) {
    const [plane = "", namespace = "", name = ""] = key.split("/");
    const edited = new Set(edits.flatMap((edit) => (edit.kind === "branch" ? [] : [edit.file])));
    const found = [...edited].flatMap((file) => {
      const manifest = manifestIn(readOrNull(files, file), "Application", [{ name, namespace }]);
      return manifest === undefined ? [] : [{ file, manifest }];
    });
    const [only, ...others] = found;
    if (only === undefined) continue;
    const own = planes.get(plane) ?? Object.assign(new Map<string, Intended>(), { madeFrom: new Set<string>() });
    planes.set(plane, own);
    for (const { file } of found) own.madeFrom.add(file);
    kustomizations ??= kustomizationsIn(files);
    const stands = others.length === 0 && makerOf(files, only.file, kustomizations) === undefined;
    // One of the same name in another namespace would be taken for it.
    if (stands && !seen.has(`${plane}/${name}`)) own.set(name, declared(only.manifest, only.file));
    else own.delete(name);
    seen.add(`${plane}/${name}`);
  }
  return planes;
}

function declared({ metadata, spec }: Record<string, unknown>, file: string): Intended {
  const annotations = isRecord(metadata) && isRecord(metadata["annotations"]) ? metadata["annotations"] : {};
  return defined({ ...intendedOf(spec), generatePaths: generatePathsOf(annotations), madeFrom: new Set([file]) });
}
