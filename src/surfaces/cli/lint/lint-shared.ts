import { editKey, type Plan, targetsOf } from "../../../core/plan/plan-types.ts";
import type { Problem } from "../../../core/reasons/problem.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";

/** A rollout and its plan over the repo and the inventory. */
export interface Planned {
  rollout: Rollout;
  plan: Plan;
}

/**
 * Rollouts of hand-written Applications that take an Application of another one, or write the place that another one writes: they
 * would undo each other's batches. Sources that are alike are found without a plan (`clashes`); `known` are the files told of so.
 * One problem for each two rollouts, at the later one's sourceRef.
 */
export function sharedTargets(planned: readonly Planned[], known: ReadonlySet<string>): { rollout: Rollout; problem: Problem }[] {
  const applications = new Map<string, Rollout>();
  const places = new Map<string, Rollout>();
  const problems: { rollout: Rollout; problem: Problem }[] = [];
  for (const { rollout, plan } of planned) {
    const told = new Set<Rollout>();
    const tell = (before: Rollout | undefined, kind: "Application" | "Place", what: string) => {
      if (before === undefined || before === rollout || told.has(before) || known.has(rollout.file)) return;
      if (before.source.kind !== "Application" && rollout.source.kind !== "Application") return;
      told.add(before);
      problems.push({ rollout, problem: shared(before, rollout, kind, what) });
    };
    for (const target of targetsOf(plan)) {
      tell(first(applications, target.key, rollout), "Application", target.key.slice(target.key.indexOf("/") + 1));
      for (const edit of target.edits) {
        const place = edit.kind === "branch" ? `branch ${edit.path}` : `${edit.file} ${edit.path}`;
        tell(first(places, `${rollout.delivery.base ?? ""}\n${editKey(edit)}`, rollout), "Place", place);
      }
    }
  }
  return problems;
}

/** Who had it first; it is the rollout's own from now on where nobody had. */
function first(had: Map<string, Rollout>, key: string, rollout: Rollout): Rollout | undefined {
  const before = had.get(key);
  if (before === undefined) had.set(key, rollout);
  return before;
}

function shared(before: Rollout, rollout: Rollout, kind: "Application" | "Place", what: string): Problem {
  return {
    code: "SOURCE_SHARED",
    kind,
    what,
    owner: before.name,
    ownerFile: before.file,
    severity: "error",
    file: rollout.file,
    line: 1,
    column: 1,
    path: ["spec", "sourceRef"],
  };
}
