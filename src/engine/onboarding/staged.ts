import { matcher } from "../../core/base/selector.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import type { InitTarget, Undecided } from "./types.ts";

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
export function setStagedBy(existing: readonly Rollout[], { name, namespace }: { name: string; namespace: string }): boolean {
  return existing.some(({ source }) => source.kind === "ApplicationSet" && source.name === name && source.namespace === namespace);
}

function selectorOf({ source }: Rollout): ((target: InitTarget) => boolean) | undefined {
  if (source.kind !== "Application") return undefined;
  const selects = source.selector === undefined ? () => true : matcher(source.selector);
  return ({ application, namespace, labels }) =>
    namespace === source.namespace && (source.name === "" || source.name === application) && selects({ name: application, labels });
}

const MOST_NAMED = 5;

/** Why those that are left get no rollout of their own: one thing on several clusters is staged together. */
export function partlyStaged({ rollout, rest }: Staged): Pick<Undecided, "why" | "hint"> {
  const named = rest.slice(0, MOST_NAMED).map((target) => target.application);
  const names = named.join(", ") + (rest.length > named.length ? ` and ${rest.length - named.length} more` : "");
  return {
    why: `rollout "${rollout.name}" has some of them already, but not ${names}`,
    hint: `widen sourceRef.selector of ${rollout.file}`,
  };
}

/** A repo of thousands of sets gets rollouts for the first of them, and is told so. */
export const MOST_ROLLOUTS = 100;

/** What is told of the others. */
export function afterMost(names: readonly string[]): Undecided {
  const what = names.length === 1 ? (names[0] ?? "") : `${names.length} more groups of Applications, such as ${names[0] ?? ""}`;
  const hint = "merge those, then run init again: what has a rollout is passed over";
  return { what, file: ".", why: `${MOST_ROLLOUTS} rollouts are proposed already`, hint };
}
