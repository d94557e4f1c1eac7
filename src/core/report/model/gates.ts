/**
 * The gates of a batch: what stands between it and the next, in the order in which it is asked, those alone that this batch has. It is said
 * as of now, which is when its pull request is opened; which of them is waited for later is `waitsFor`. Called by `batch-plan.ts`.
 */
import { formatDuration, iso } from "../../base/time.ts";
import { waitsAfter } from "../../plan/steps.ts";
import { wantsApproval } from "../../run/gates/approval.ts";
import { clustersOf, liveTargets } from "../../run/state/names.ts";
import type { Batch, Run } from "../../run/state/run.ts";
import { isMidStep } from "../../run/state/steps.ts";
import { windowSets } from "../../spec/windows-binding.ts";
import { closedNow, nextOpening, type WindowSet } from "../../spec/windows-together.ts";
import { countedWord, countedWords } from "../counted.ts";
import { firstOf } from "../markdown.ts";
import { short } from "../plan/plan-chart.ts";
import { scopePhrase } from "../reasons/phrases.ts";
import { waitWords } from "../steps.ts";
import { clockTime } from "../words.ts";
import type { Context } from "./context.ts";
import type { Gate } from "./types.ts";

const MOST_NAMED = 5;

export function gatesOf(context: Pick<Context, "run" | "now" | "history">, batch: Batch): Gate[] {
  const { run } = context;
  return [...forward(context, batch), ...merging(run), ...afterMerge(run, batch)];
}

/** Those that a rollback and a revert skip. */
function forward(context: Pick<Context, "run" | "now" | "history">, batch: Batch): Gate[] {
  const { run } = context;
  if (run.kind === "Rollback" || batch.kind === "Revert") return [];
  return [
    ...turn(batch),
    ...depends(run),
    ...approval(run, batch),
    ...(batch.kind === "Hotfix" ? [] : windows(context, batch)),
    ...jitter(run, batch),
    ...(batch.kind === "Hotfix" ? [] : stageBegins(run, batch)),
  ];
}

function turn({ ahead }: Batch): Gate[] {
  if (ahead !== true) return [];
  return [
    {
      ...{ kind: "turn", name: "its turn", why: "it was opened ahead", opens: "the batches before it", when: "when they are done" },
      planned: "the batches before it are done (it was opened ahead; somebody else's merge pauses the run)",
    },
  ];
}

function depends(run: Run): Gate[] {
  return (run.spec.dependsOn ?? []).slice(0, MOST_NAMED).map(({ rollout, atLeast }) => {
    const name = short(rollout, 60);
    const version = atLeast === "SameVersion" ? "this version" : `least ${short(atLeast, 60)}`;
    return {
      ...{
        kind: "dependsOn",
        name: `after ${name}`,
        why: `${name} has to be healthy on each of these ${countedWords(run.plan)}, at ${version}`,
      },
      ...{ opens: "that rollout", when: "not known", planned: `${name} is healthy on its ${countedWords(run.plan)}` },
    };
  });
}

function approval(run: Run, batch: Batch): Gate[] {
  const wanted = wantsApproval(run, batch);
  if (wanted === undefined) return [];
  const teams = wanted.teams.slice(0, MOST_NAMED).map((team) => `@${short(team, 60)}`);
  const who = `${wanted.count === 1 ? "a member" : `${wanted.count} members`} of ${teams.join(" or ")}`;
  return [
    {
      ...{ kind: "approval", name: "approval", why: `${who} has to approve, other than who released it` },
      ...{ opens: "an approving review of this PR at its head, or /promote on it", when: "when they have" },
      planned: `${who} approved it`,
    },
  ];
}

/** Those that bind its clusters, as they are known; freezes come and go. */
function windows({ run, now, history }: Pick<Context, "run" | "now" | "history">, batch: Batch): Gate[] {
  const clusters = clustersOf(liveTargets(batch)).map((key) => history.clusters?.get(key));
  const sets = windowSets({ rollout: run.spec, stage: batch.stage, clusters }, []);
  const named = sets.flatMap(({ where, windows: own }) => {
    const scope = scopePhrase(where.only);
    const whom = scope === "" ? "" : `${short(scope, 60)}: `;
    return own.map(
      (one) => `${whom}${one.kind} ${short(one.schedule, 60)} for ${formatDuration(one.durationMs)} (${short(one.timeZone, 60)})`,
    );
  });
  if (named.length === 0) return [];
  const gate = { kind: "windows", name: "windows", why: firstOf(named, MOST_NAMED), opens: "the next opening" } as const;
  // Whom those with a selector bind is not known where the labels are not.
  if (clusters.includes(undefined) && sets.some(({ where }) => where.only?.selector !== undefined))
    return [{ ...gate, when: "when those for its clusters are open", planned: "the windows for its clusters are open" }];
  return [{ ...gate, ...openingOf(sets, now) }];
}

function openingOf(sets: readonly WindowSet[], now: number): Pick<Gate, "when" | "planned"> {
  const opening = nextOpening(sets, now);
  const open = closedNow(sets, now) === undefined;
  const turn = opening === undefined || !("at" in opening) ? undefined : open ? opening.until : opening.at;
  const at = turn === undefined || turn === Number.POSITIVE_INFINITY ? undefined : clockTime(iso(turn), now);
  const when = open ? `open now${at === undefined ? "" : `, until ${at}`}` : at === undefined ? "not within a year" : `next ${at}`;
  return { when, planned: open ? undefined : `a window opens${at === undefined ? "" : ` at ${at}`}` };
}

function jitter(run: Run, batch: Batch): Gate[] {
  const longest = formatDuration(run.spec.stages[batch.stage]?.jitterMs ?? 0);
  if ((run.spec.stages[batch.stage]?.jitterMs ?? 0) === 0) return [];
  return [
    {
      ...{ kind: "jitter", name: "jitter", why: "the stage spreads its batches over time", opens: "time" },
      ...{ when: `at most ${longest} from now`, planned: `its jitter of at most ${longest} is over` },
    },
  ];
}

function stageBegins(run: Run, batch: Batch): Gate[] {
  const { analysis, hooks } = run.spec.stages[batch.stage] ?? {};
  if (run.batches.some((one) => one.stage === batch.stage && one.number < batch.number && one.merged !== undefined)) return [];
  const gates: Gate[] = [];
  if (analysis?.when.includes("BeforeStage") === true) {
    const name = `${namesOf(analysis)} before the stage`;
    gates.push({ ...measured(name), planned: `analysis ${name} has passed` });
  }
  if ((hooks?.before.length ?? 0) > 0) {
    const why = "Stagecoach asks them before the stage";
    const planned = "the hooks before the stage let it pass";
    gates.push({ kind: "hooks", name: "hooks", why, opens: "their answer", when: "when they answer", planned });
  }
  return gates;
}

function measured(why: string): Gate {
  return { kind: "analysis", name: "analysis", why, opens: "its success", when: "when it has measured" };
}

function merging({ spec }: Run): Gate[] {
  if (spec.mode === "Run" && spec.delivery.merge !== "Manual") return [];
  const opens = spec.mode === "Run" ? "a merge, or /promote" : "a merge";
  return [{ kind: "person", name: "a person", why: "people merge the batches of this rollout", opens, when: "when somebody does" }];
}

/** What the next batch waits for once this one has merged. */
function afterMerge(run: Run, batch: Batch): Gate[] {
  const stage = run.spec.stages[batch.stage];
  if (stage === undefined) return [];
  const deadline = formatDuration(stage.progressDeadlineMs);
  const health: Gate = {
    ...{
      kind: "health",
      name: "health",
      why: `Argo CD has to show this very change, healthy, on every ${countedWord(run.plan)}`,
      isAfter: true,
    },
    ...{ opens: "Argo CD alone; /promote never does", when: `it counts as failed ${deadline} after Argo CD first shows it` },
    planned: `Argo CD shows every ${countedWord(run.plan)} healthy at this change`,
  };
  if (batch.kind === "Revert") return [health];
  return [health, ...stepWaits(run, batch), ...(isMidStep(batch) || batch.kind === "Hotfix" ? [] : baking(run, batch))];
}

function stepWaits(run: Run, batch: Batch): Gate[] {
  if (batch.step === undefined) return [];
  return waitsAfter(run.spec.stages[batch.stage]?.steps, batch.step.index).map((wait) => {
    const timed = wait.kind === "pause" && wait.durationMs !== undefined;
    const opens = wait.kind === "analysis" ? "its success" : timed ? "time, or /promote" : "/promote";
    const when = timed ? "as long from then" : "";
    const pause = timed ? `a pause of ${formatDuration(wait.durationMs ?? 0)} is over` : "somebody comments /promote";
    const planned = wait.kind === "analysis" ? `${waitWords(wait)} has passed` : pause;
    return { kind: "step", name: "step", why: waitWords(wait), opens, when, isAfter: true, planned };
  });
}

function baking(run: Run, batch: Batch): Gate[] {
  const { bakeMs = 0, analysis } = run.spec.stages[batch.stage] ?? {};
  const gates: Gate[] = [];
  if (bakeMs > 0 && run.promotedFully === undefined)
    gates.push({
      ...{ kind: "bake", name: "bake", why: `every ${countedWord(run.plan)} stays healthy`, opens: "time, or /promote", isAfter: true },
      ...{ when: `${formatDuration(bakeMs)} after the last is healthy`, planned: `the bake of ${formatDuration(bakeMs)} is over` },
    });
  if (analysis?.when.includes("AfterBatch") === true) {
    const name = `${namesOf(analysis)} after the batch`;
    gates.push({ ...measured(name), isAfter: true, planned: `analysis ${namesOf(analysis)} has passed` });
  }
  return gates;
}

function namesOf({ templates }: { templates: readonly { templateName: string }[] }): string {
  return short(templates.map(({ templateName }) => templateName).join(", "), 100);
}
