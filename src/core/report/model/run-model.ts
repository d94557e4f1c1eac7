/** Makes the model of a run: see `types.ts` for what it holds and how to draw it. Called by every surface that shows a run. */
import { holdsReason, sameReason } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import { valueChanges } from "../../plan/values.ts";
import { livenessReason } from "../../reasons/liveness.ts";
import { planRollback } from "../../run/outcome/rollback.ts";
import { clusterName } from "../../run/state/names.ts";
import { type Batch, type BatchTarget, isEnded, type Run } from "../../run/state/run.ts";
import { linksOf, releaseUrl } from "../links.ts";
import { present } from "../markdown.ts";
import { plainSentence, sentenceOf } from "../reasons/say.ts";
import { shownValues } from "../values.ts";
import { releaseName, releaser } from "../words.ts";
import { actionsOfRun } from "./actions.ts";
import { causeBeside, worstCause } from "./causes.ts";
import { awaitedOf, type Context, contextOf, explainNode, saidOf } from "./context.ts";
import { clustersBelow, countsOf } from "./counts.ts";
import { etasOfStages } from "./eta.ts";
import { seenOf } from "./has-moved.ts";
import { besideNodes, stageNode } from "./stage-nodes.ts";
import { node } from "./states.ts";
import type { ModelNode, RunModel, Said } from "./types.ts";
import { sinceOf, standingOf } from "./waits-on.ts";

export function modelOf(run: Run, now: number, given: Partial<Omit<Context, "run" | "now">> = {}): RunModel {
  const context = contextOf(run, now, given);
  const stages = etasOfStages(context).map((eta, index) => stageNode(context, index, eta));
  const children = [...stages, ...outsideNode(context)];
  // While it is paused, what comes next is mostly what people are asked.
  const asksAnyway = sameReason(run.next?.what, run.paused?.ask);
  const { paused, trigger, endedAt } = run;
  const words = explainNode(context, run.why);
  const release = releaseName(run.release.values);
  return {
    ...node({ kind: "run", name: `${run.rollout} #${run.number}`, ...standingOf(run), since: sinceOf(run) }),
    ...words,
    when: isEnded(run) ? "past" : "now",
    kind: "run",
    links: linksOf({ [`#${trigger.pull}`]: releaseUrl(run), page: context.page(run) }),
    ...{ rollout: run.rollout, number: run.number, of: run.of },
    ...{ release, change: versionChange(stages, release), values: shownValues(valueChanges(run.spec, run.plan)) },
    pull: trigger.pull,
    author: releaser(run),
    planHash: run.plan.hash,
    targetBy: run.plan.targetBy,
    startedAt: run.startedAt,
    endedAt,
    counts: countsOf(children),
    pause: pauseOf(context),
    isPutBack: run.rollback === undefined ? undefined : true,
    ...{ deeds: deedsOf(run), commands: commandsOf(run), seen: seenOf(run) },
    ask: paused === undefined ? undefined : saidOf(context, paused.ask),
    wayBack: wayBackOf(context),
    waitsFor: asksAnyway ? undefined : awaitedOf(context, run.next),
    eta: stages.at(-1)?.eta,
    deadline: asksAnyway ? undefined : run.next?.deadline,
    cause:
      run.phase === "Paused" || run.phase === "Failed"
        ? causeBeside(words.says, worstCause(stages.flatMap((stage) => stage.cause ?? [])))
        : undefined,
    actions: actionsOfRun(context, failedBelow(children)),
    controlPlanes: planeNodes(context),
    notes: unaskedNotes(run.batches),
    children,
  };
}

function failedBelow(children: readonly ModelNode[]): string[] {
  return [...new Set(children.flatMap(clustersBelow).flatMap(({ name, state }) => (state === "Failed" ? [name] : [])))];
}

function pauseOf(context: Context): RunModel["pause"] {
  const { paused } = context.run;
  if (paused === undefined) return undefined;
  const { kind, at, reason } = paused;
  return { ...saidOf(context, reason), kind, at, by: kind === "Command" ? paused.by : undefined, tried: triedBefore(context.run) };
}

/** What becomes of the version, where all that changes changes alike. */
function versionChange(stages: readonly ModelNode[], release: string): ModelNode["change"] {
  const changes = stages.flatMap(changesBelow);
  const [first] = changes;
  if (first === undefined) return undefined;
  const isOne = changes.every(({ from, to }) => from === first.from && to === first.to);
  return isOne ? first : { to: release };
}

/** The uppermost of each branch. */
function changesBelow(node: ModelNode): NonNullable<ModelNode["change"]>[] {
  return node.change === undefined ? node.children.flatMap(changesBelow) : [node.change];
}

function wayBackOf(context: Context): Said | undefined {
  const { run } = context;
  if (run.paused === undefined || run.kind === "Rollback" || run.rollback !== undefined || run.ending !== undefined) return undefined;
  const back = planRollback(run);
  if ("error" in back) return undefined;
  const clusters = back.plan.stages.reduce((sum, stage) => sum + stage.clusters.length, 0);
  const branches = run.spec.delivery.strategy === "Commit";
  return saidOf(context, { code: "WAY_BACK", clusters, ...(branches && { branches }) });
}

/** Clusters that appeared and that no stage has: a stage of their own, at the end. */
function outsideNode(context: Context): ModelNode[] {
  const children = besideNodes(context, undefined);
  return children.length === 0 ? [] : [node({ kind: "stage", name: "not in this run", state: "NotInRun", when: "later", children })];
}

/** Which control planes cannot be seen, and how many clusters wait for them. */
function planeNodes(context: Context): ModelNode[] {
  const { run } = context;
  if (isEnded(run)) return [];
  return (run.unseen ?? []).map(({ plane, since, why }) => {
    const clusters = new Set(
      run.batches.flatMap(({ phase, targets }) =>
        phase === "Settled" || phase === "Closed"
          ? []
          : targets.filter(({ key }) => key.startsWith(`${plane}/`)).map(({ cluster }) => cluster),
      ),
    );
    const held = [...clusters].slice(0, 5).map((cluster) => clusterName(run, cluster));
    const more = clusters.size > held.length ? ` and ${clusters.size - held.length} more` : "";
    const words = explainNode(context, why);
    return node({
      ...{ kind: "controlPlane", name: plane, state: "Unseen", since },
      ...words,
      // What the run says of it already is said once.
      says: holdsReason(run.why, why) ? "" : words.says,
      facts: present(held.length > 0 && `${held.join(", ")}${more} ${clusters.size === 1 ? "waits" : "wait"} for it`),
    });
  });
}

/** Says once, below what shows these batches, that their clusters cannot be asked for a sign of life. Nothing where they can. */
function unaskedNotes(batches: readonly Batch[]): string[] {
  const live = batches.flatMap(({ targets }) => targets.flatMap((target) => proofOf(target) ?? []));
  const unasked = live.filter(({ cluster }) => cluster === "unasked").length;
  return unasked === 0 ? [] : [sentenceOf(livenessReason("CLUSTERS_UNASKED", { all: unasked === live.length }))];
}

/** Of what is live: nobody wonders about a cluster that is still waited for. */
function proofOf({ evidence, why }: BatchTarget): { cluster?: unknown } | undefined {
  const said = evidence?.sentence ?? why;
  return typeof said === "object" && said.code === "CHANGE_LIVE" ? (said as { cluster?: unknown }) : undefined;
}

// What people did in a run, and to what end.

const MOST_ACCOUNTS = 5;
const MOST_COMMANDS = 20;

/** GitHub tells of a merge to the second, rounded down: what was done to let it be merged may be later by less than this. */
const ROUNDED_DOWN_MS = 999;

/** Who released, who merged by hand, and every command that was done, in order: in one second a merge comes last. */
function deedsOf(run: Run): RunModel["deeds"] {
  const first = released(run);
  const deeds = [{ deed: first, order: epoch(first.at) }];
  for (const { merged, pull } of run.batches) {
    if (merged === undefined || pull === undefined || merged.by === "" || merged.by.endsWith("[bot]")) continue;
    const deed = { at: merged.at, by: `@${merged.by}`, did: `merged #${pull.number}` };
    deeds.push({ deed, order: epoch(merged.at) + ROUNDED_DOWN_MS });
  }
  for (const { outcome, actor, text, at } of run.commands)
    if (outcome === "done") deeds.push({ deed: { at, by: `@${actor}`, did: text }, order: epoch(at) });
  return deeds.sort((a, b) => a.order - b.order).map(({ deed }) => deed);
}

/** The last ones, and what became of each; one that ends the run is answered once nothing of it is open any more. */
function commandsOf(run: Run): RunModel["commands"] {
  const judged = run.commands.slice(-MOST_COMMANDS).map(({ id, text, actor, at, outcome, message }) => ({
    ...{ comment: commentOf(id), text, by: `@${actor}`, at, says: plainSentence(message, run) },
    state: outcome === "done" ? ("Done" as const) : ("Refused" as const),
  }));
  const { command, by, at, reason } = run.ending ?? {};
  if (command === undefined || by === undefined || at === undefined || reason === undefined) return judged;
  const says = plainSentence(reason, run);
  return [...judged, { comment: commentOf(command.id), text: command.text, by: `@${by}`, at, state: "Waiting", says }];
}

function commentOf(id: string): string {
  return id.split("#")[0] ?? "";
}

/** Without a PR an account is named only where GitHub knows one: what stands in a commit anybody may have typed. */
function released({ trigger: { pull, at, author, accounts } }: Run): RunModel["deeds"][number] {
  const place = pull === undefined ? "" : ` (#${pull})`;
  if (accounts === undefined) return { at, by: `@${author}`, did: `merged the release${place}` };
  const known = accounts.slice(0, MOST_ACCOUNTS).map((one) => `@${one}`);
  if (known.length > 0) return { at, by: known.join(", "), did: `brought the release in${place}` };
  return { at, by: `somebody whom GitHub does not know (the commit says ${author})`, did: `brought the release in${place}` };
}

/** The `/retry` of what failed again: who gave it is told so, instead of the same words a second time. */
function triedBefore({ commands, batches }: Run): NonNullable<RunModel["pause"]>["tried"] {
  const open = batches.filter(({ phase }) => phase !== "Settled" && phase !== "Closed");
  const failedAgain = open.some(({ targets }) => targets.some(({ phase, retriedAt }) => phase === "Failed" && retriedAt !== undefined));
  const tried = failedAgain ? commands.findLast(({ outcome, text }) => outcome === "done" && text.startsWith("/retry")) : undefined;
  return tried && { text: tried.text, by: tried.actor };
}
