import { BoundedMap } from "../../../core/base/bounded.ts";
import { isRecord } from "../../../core/base/is-record.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { Rollout, SourceRef } from "../../../core/spec/rollout.ts";
import { findApplicationSet } from "../../config-repo/appset-in-git.ts";
import type { Commits } from "../../config-repo/commits.ts";
import { readProject } from "../../config-repo/project.ts";
import type { Planes } from "../../resolve/fleet.ts";
import { setsOfRun } from "../../resolve/source-sets.ts";
import type { RepoContext } from "../context.ts";

/** Where it stands, not what it says: a release changes it all the time. */
const NOT_COMPARED: ReadonlySet<string> = new Set(["release", "file"]);
const MOST_NAMED = 8;

/**
 * Says on a run's page that its resource, or its ApplicationSet, is not what it was when the run began: the run keeps what it started
 * with (docs/spec.md §9.16), and nobody should wonder why an edit does nothing, or does it everywhere at once.
 */
export type EditRemarks = (run: Run, base: string) => Promise<readonly AnyReason[]>;

const MOST_KEPT = 1000;

export function openEditRemarks({ log, planes }: Pick<RepoContext, "log" | "planes">, commits: Commits): EditRemarks {
  /** Rollout and run → the base that its resource was last compared with, and what is said of it. */
  const kept = new BoundedMap<string, { base: string; remarks: readonly AnyReason[] }>(MOST_KEPT);
  return async (run, base) => {
    if (isEnded(run) || run.kind === "Rollback") return [];
    const key = `${run.rollout} ${run.number}`;
    const known = kept.get(key);
    if (known?.base === base) return known.remarks;
    try {
      const remarks = await remarksOf(planes, commits, run, base);
      kept.set(key, { base, remarks });
      return remarks;
    } catch (error) {
      log.warn({ rollout: run.rollout, error: String(error) }, "whether the run's resource was edited could not be seen");
      return known?.remarks ?? [];
    }
  };
}

async function remarksOf(planes: Planes, commits: Commits, run: Run, base: string): Promise<AnyReason[]> {
  const { rollouts, problems } = await readProject(commits.snapshot(base));
  const now = rollouts.find((one) => one.name === run.rollout);
  const isBroken = problems.some((problem) => problem.severity === "error");
  const resource = isBroken && now === undefined ? undefined : resourceEdit(run, now);
  const remarks = [resource];
  for (const { ref } of setsOfRun(planes, run)) remarks.push(await setEdit(commits, run, ref, base));
  return remarks.filter((remark) => remark !== undefined);
}

/** What of the resource is not as the run has it. undefined: nothing. */
export function resourceEdit(run: Pick<Run, "spec">, now: Rollout | undefined): AnyReason | undefined {
  if (now === undefined) return engineReason("RESOURCE_GONE", { declaredIn: run.spec.file });
  const before = new Map<string, unknown>(Object.entries(run.spec));
  const after = new Map<string, unknown>(Object.entries(now));
  const names = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => !NOT_COMPARED.has(name) && JSON.stringify(before.get(name)) !== JSON.stringify(after.get(name)),
  );
  if (names.length === 0) return undefined;
  return engineReason("RESOURCE_EDITED", { declaredIn: now.file, fields: names.slice(0, MOST_NAMED).map(writtenAs) });
}

/** As the resource spells it. */
function writtenAs(name: string): string {
  return name === "source" ? "sourceRef" : name.replace(/Ms$/, "");
}

async function setEdit(commits: Commits, run: Run, ref: SourceRef, base: string): Promise<AnyReason | undefined> {
  const likely = new Set(run.spec.pins.flatMap((pin) => ("file" in pin && !pin.file.includes("{{") ? [pin.file] : [])));
  const before = await findApplicationSet(commits.snapshot(run.trigger.commit), ref, likely);
  const after = await findApplicationSet(commits.snapshot(base), ref, before === undefined ? likely : [before.file]);
  if (before === undefined) return undefined;
  if (after === undefined) return engineReason("SET_GONE", { declaredIn: before.file, set: ref.name });
  const [old, young] = [partsOf(before.object), partsOf(after.object)];
  const names = [...new Set([...old.keys(), ...young.keys()])].filter((name) => old.get(name) !== young.get(name));
  if (names.length === 0) return undefined;
  return engineReason("SET_EDITED", { declaredIn: after.file, fields: names.slice(0, MOST_NAMED).map((name) => `spec.${name}`) });
}

/** All but the generators: which clusters there are, and their pins, are the run's business anyway. */
function partsOf(object: Record<string, unknown>): Map<string, string> {
  const spec = isRecord(object["spec"]) ? object["spec"] : {};
  return new Map(Object.entries(spec).flatMap(([name, value]) => (name === "generators" ? [] : [[name, JSON.stringify(value)] as const])));
}
