/** Rollouts that would write each other's places, found by their plans. Called by `lint-run.ts`. */
import { sayRef } from "../../../core/base/ref-name.ts";
import { editKey, type Plan, targetsOf } from "../../../core/plan/plan-types.ts";
import { type Problem, problemIn } from "../../../core/reasons/problems/problem.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { locateIn } from "../../../engine/resolve/plan-over.ts";
import { atName } from "../../../engine/resolve/source-sets.ts";
import type { Checkout } from "./lint-checkout.ts";

/** A rollout and its plan over the repo and the inventory. */
export interface Planned {
  rollout: Rollout;
  plan: Plan;
}

/**
 * Finds rollouts that take an Application of another one, or write the place that another one writes. They would undo each other's
 * batches. Sources that are alike are found without a plan (`clashes`); `known` are the files told of so. One problem for each two
 * rollouts, at the later one's sourceRef.
 */
export function sharedTargets(
  planned: readonly Planned[],
  known: ReadonlySet<string>,
  checkout: Checkout,
): { later: Rollout; problem: Problem }[] {
  const applications = new Map<string, Rollout>();
  const places = new Map<string, Rollout>();
  const problems: { later: Rollout; problem: Problem }[] = [];
  for (const { rollout, plan } of planned) {
    const told = new Set<Rollout>();
    const tell = (before: Rollout | undefined, kind: "Application" | "Place", what: string) => {
      if (before === undefined || before === rollout || told.has(before) || known.has(rollout.file)) return;
      if (!eitherIsWritten(before, rollout)) return;
      told.add(before);
      const data = { code: "SOURCE_SHARED", kind, what, owner: before.name, ownerFile: before.file } as const;
      problems.push({ later: rollout, problem: locateIn(rollout, checkout, problemIn(rollout.file, data, atName(rollout))) });
    };
    for (const target of targetsOf(plan)) {
      tell(first(applications, target.key, rollout), "Application", target.key.slice(target.key.indexOf("/") + 1));
      for (const edit of target.edits) {
        const place = edit.kind === "branch" ? sayRef(edit.path) : edit.kind === "copy" ? `${edit.file}/` : `${edit.file} ${edit.path}`;
        tell(first(places, `${rollout.delivery.base ?? ""}\n${editKey(edit)}`, rollout), "Place", place);
      }
    }
  }
  return problems;
}

/** As `sharedTargets` of all rollouts of the repo, of one that is the later. `planOf` is asked only of those that can be meant. */
export function sharedWithEarlier(
  { rollout, plan }: { rollout: Rollout; plan: Plan | undefined },
  rollouts: readonly Rollout[],
  planOf: (rollout: Rollout) => Plan | undefined,
  checkout: Checkout,
): Problem[] {
  if (plan === undefined) return [];
  const at = rollouts.findIndex((one) => isSame(one, rollout));
  const earlier = rollouts.slice(0, at === -1 ? undefined : at).filter((one) => eitherIsWritten(one, rollout));
  const planned = earlier.flatMap((one): Planned[] => {
    const own = planOf(one);
    return own === undefined ? [] : [{ rollout: one, plan: own }];
  });
  const shared = sharedTargets([...planned, { rollout, plan }], new Set(), checkout);
  return shared.flatMap(({ later, problem }) => (later === rollout ? [problem] : []));
}

export function isSame(one: Rollout, other: Rollout): boolean {
  return one.name === other.name && one.file === other.file;
}

/** Two that name one ApplicationSet each are told apart by their sources. */
function eitherIsWritten(...both: readonly Rollout[]): boolean {
  return both.some(({ source }) => source.kind === "Application" || source.name === "");
}

/** Who had it first; it is the rollout's own from now on where nobody had. */
function first(had: Map<string, Rollout>, key: string, rollout: Rollout): Rollout | undefined {
  const before = had.get(key);
  if (before === undefined) had.set(key, rollout);
  return before;
}
