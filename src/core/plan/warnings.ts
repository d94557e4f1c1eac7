import { nearest } from "../base/nearest.ts";
import { formatSelector, matcher } from "../base/selector.ts";
import type { Rollout } from "../spec/rollout.ts";
import { sourceText } from "../spec/rollout.ts";
import type { Over } from "./limits.ts";
import type { Plan, PlannedStage, Warning } from "./plan-types.ts";
import { weightsOf } from "./steps.ts";
import type { Member, Unit } from "./units.ts";

/** docs/spec.md §9.19: GitHub lets about one merge a minute through. */
const LONG_PLAN = 50;

/** Clusters that no stage takes, and why. */
export function uncoveredOf(rollout: Rollout, left: readonly Unit[]): Plan["uncovered"] {
  const stages = rollout.stages.map((stage) => ({ name: stage.name, selects: matcher(stage.selector) }));
  const members = left.flatMap((unit) => unit.members);
  return members.map(({ cluster }: Member) => {
    const full = stages.find((stage) => stage.selects(cluster));
    const why = full === undefined ? "no stage selects it" : `stage "${full.name}" selects it, but maxClusters was reached`;
    return { cluster: cluster.key, why };
  });
}

/** What a person should know before starting. */
export function warningsOf(
  rollout: Rollout,
  stages: readonly PlannedStage[],
  uncovered: Plan["uncovered"],
  members: readonly Member[],
): Warning[] {
  const warnings: Warning[] = [];
  const say = (code: string, message: string) => warnings.push({ code, message });
  if (members.length === 0) say("NO_TARGETS", noTargets(rollout));
  for (const [i, stage] of stages.entries()) {
    if (stage.clusters.length + stage.requeued.length > 0 || members.length === 0) continue;
    const selector = rollout.stages[i]?.selector;
    say(
      "EMPTY_STAGE",
      `stage "${stage.name}" has no cluster${selector === undefined ? "" : ` (${formatSelector(selector)})`}; it is skipped`,
    );
  }
  if (uncovered.length > 0) {
    const names = uncovered.map(({ cluster }) => cluster.slice(cluster.indexOf("/") + 1));
    const shown = names.slice(0, 10).join(", ") + (names.length > 10 ? ` and ${names.length - 10} more` : "");
    say("COVERAGE", `no stage takes ${names.length} of ${members.length} clusters, so they stay at their version: ${shown}`);
  }
  const bare = members.filter(({ cluster }) => !cluster.registered).map(({ cluster }) => cluster.name);
  if (bare.length > 0)
    say("IN_CLUSTER", `${bare.join(", ")} has no cluster Secret, so it has no labels: only a selector without labels takes it`);
  const steps = (index: number) => (rollout.stages[index]?.steps === undefined ? 1 : weightsOf(rollout.stages[index].steps).length);
  for (const { stage, name, near } of strangersInPairs(rollout, members)) {
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    say("UNKNOWN_PAIR", `order.pairs of stage "${stage}" names ${name}, which is no cluster with an Application of this rollout${hint}`);
  }
  const batches = stages.reduce((sum, stage, index) => sum + stage.batches.length * steps(index), 0);
  if (batches > LONG_PLAN)
    say(
      "MANY_BATCHES",
      `${batches} ${rollout.weightPins === undefined ? "batches" : "batches and steps of batches"} take at least ${batches} minutes, at GitHub's pace of about one merge a minute; a larger maxUnavailable makes fewer`,
    );
  return warnings;
}

function noTargets({ source }: Rollout): string {
  const what = sourceText(source);
  if (source.kind === "ApplicationSet") return `${what} has no Application on any known cluster`;
  return source.name === "" ? `no Application is known on any cluster for: ${what}` : `${what} is on no known cluster`;
}

/** Batches are smaller than the stage would have them. `over`: the first that was cut. */
export function limited(stage: string, batches: number, uncut: number, { setting, what, most }: Over): Warning {
  const message = `stage "${stage}" would have ${what} in flight at once and ${setting} of the repo's settings allows ${most}: its batches are cut to that, ${batches} instead of ${uncut}`;
  return { code: "BATCHES_CUT", message };
}

const MOST_STRANGERS = 10;

/** Names in `order.pairs` that are nobody's: what is misspelled keeps nothing apart. */
function strangersInPairs(rollout: Rollout, members: readonly Member[]): { stage: string; name: string; near: string | undefined }[] {
  if (members.length === 0 || rollout.stages.every((stage) => stage.pairs === undefined)) return [];
  const names = members.map(({ cluster }) => cluster.name);
  const known = new Set([...names, ...members.map(({ cluster }) => cluster.key)]);
  const strangers = rollout.stages.flatMap((stage) =>
    [...new Set((stage.pairs ?? []).flat())].filter((name) => !known.has(name)).map((name) => ({ stage: stage.name, name })),
  );
  return strangers.slice(0, MOST_STRANGERS).map((one) => ({ ...one, near: nearest(one.name, names) }));
}
