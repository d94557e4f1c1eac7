import { recordOf } from "../../core/base/is-record.ts";
import { matcher } from "../../core/base/selector.ts";
import type { Undecided } from "../../core/report/onboarding/types.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { setTaker } from "../resolve/draft.ts";
import type { InitTarget } from "./types.ts";

/** A rollout that has some of a group's Applications already, and those of the group that no rollout has. */
interface Staged {
  rollout: Rollout;
  rest: InitTarget[];
}

/** Whether hand-written Applications have a rollout already; undefined: not one of them has. */
export function stagedBy(existing: readonly Rollout[], members: readonly InitTarget[]): Staged | undefined {
  const owners = existing.flatMap((rollout) => {
    const selects = selectorOf(rollout);
    return selects === undefined ? [] : [{ rollout, selects }];
  });
  const first = owners.find(({ selects }) => members.some(selects));
  if (first === undefined) return undefined;
  return { rollout: first.rollout, rest: members.filter((target) => !owners.some(({ selects }) => selects(target))) };
}

/** Whether a rollout has this ApplicationSet already. */
export function setStagedBy(existing: readonly Rollout[], { name, namespace, targets }: SetNamed): boolean {
  const metadata = recordOf(targets[0]?.set?.manifest?.object["metadata"]);
  const labels = recordOf(metadata["labels"]) as Record<string, string>;
  return existing.some(
    ({ source }) => source.kind === "ApplicationSet" && source.namespace === namespace && setTaker(source)({ name, labels }),
  );
}

interface SetNamed {
  name: string;
  namespace: string;
  targets: readonly InitTarget[];
}

function selectorOf({ source }: Rollout): ((target: InitTarget) => boolean) | undefined {
  if (source.kind !== "Application") return undefined;
  const selects = source.selector === undefined ? () => true : matcher(source.selector);
  return ({ application, namespace, labels }) =>
    namespace === source.namespace && (source.name === "" || source.name === application) && selects({ name: application, labels });
}

/** Why those that are left get no rollout of their own: one thing on several clusters is staged together. */
export function partlyStaged({ rollout, rest }: Staged): Undecided["why"] {
  return {
    ...{ kind: "PartlyStaged", rollout: rollout.name, file: rollout.file },
    applications: rest.map(({ application }) => application),
  };
}

/** A repo of thousands of sets gets rollouts for the first of them, and is told so. */
export const MOST_ROLLOUTS = 100;

/** What is told of the others. */
export function afterMost(names: readonly string[]): Undecided {
  const what = names.length === 1 ? (names[0] ?? "") : `${names.length} more groups of Applications, such as ${names[0] ?? ""}`;
  return { what, file: ".", why: { kind: "EnoughProposed", rollouts: MOST_ROLLOUTS } };
}
