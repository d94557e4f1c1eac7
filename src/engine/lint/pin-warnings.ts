/** Warns of what pins change by the place they are at. Called by `lint-outside.ts`. */
import { posix } from "node:path";
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { findPin } from "../../core/pins/find.ts";
import type { Edit } from "../../core/plan/plan-types.ts";
import type { Finding } from "../../core/reasons/problems/problem.ts";
import type { Rollout } from "../../core/spec/rollout.ts";

const MOST_NAMED = 3;

/**
 * Warns of a pin that writes the tag or digest of one image here and of another there, as a place in a list may. Registries and folders may
 * differ from one environment to another, so the last part of a name is what is compared.
 */
export function imagesDiffer({ pins }: Rollout, edits: ReadonlyMap<string, readonly Edit[]>, files: RepoFiles): Finding[] {
  return pins.flatMap((pin, index): Finding[] => {
    if (pin.kind !== "value" || pin.part === undefined || pin.part === "ref") return [];
    const found = new Map<string, { image: string; application: string; path: string }>();
    for (const [application, { [index]: edit, length }] of edits) {
      if (edit === undefined || length !== pins.length) continue;
      const image = imageAt(files, edit);
      const name = image?.slice(image.lastIndexOf("/") + 1);
      if (image !== undefined && name !== undefined && !found.has(name)) found.set(name, { image, application, path: edit.path });
    }
    const [first] = found.values();
    if (first === undefined || found.size < 2) return [];
    const images = [...found.values()].slice(0, MOST_NAMED).map(({ image, application }) => ({ image, application }));
    return [{ code: "PIN_IMAGES_DIFFER", images, pinPath: first.path, severity: "warning", path: ["spec", "pins", index, "path"] }];
  });
}

/** Without its tag and digest. Of `old=new:tag`, as Kustomize gives an image another name, the old one. */
function imageAt(files: RepoFiles, { file, path }: Edit): string | undefined {
  const whole = findPin(readOrNull(files, file) ?? "", { path });
  const value = whole.ok ? (whole.found.value ?? "") : "";
  return value.replace(/=.*$|@.*$/, "").replace(/:[^/:]*$/, "") || undefined;
}

/** The file that holds a chart's dependencies, and the one that locks them. */
const LOCKS: Readonly<Record<string, string>> = { "Chart.yaml": "Chart.lock", "requirements.yaml": "requirements.lock" };

/**
 * Warns of charts whose dependencies a pin changes and a lock file holds. Helm compares the two (`helm dependency build`, which Argo CD runs),
 * so nothing would be rendered from the batch's commit.
 */
export function lockedCharts(edits: ReadonlyMap<string, readonly Edit[]>, files: Pick<RepoFiles, "paths">): Finding[] {
  const locks = new Set<string>();
  for (const { kind, file, path } of [...edits.values()].flat()) {
    const lock = LOCKS[posix.basename(file)];
    const locked = lock === undefined ? undefined : posix.join(posix.dirname(file), lock);
    if (kind === "value" && /^dependencies\[/.test(path) && locked !== undefined) locks.add(locked);
  }
  if (locks.size === 0) return [];
  const there = files.paths().filter((path) => locks.has(path));
  if (there.length === 0) return [];
  return [{ code: "CHART_LOCKED", locks: there.sort().slice(0, 5), of: there.length, severity: "warning", path: ["spec", "pins"] }];
}
