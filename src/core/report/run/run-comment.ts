/** The live page of a run: the one sticky comment on its release PR. It draws the model in Markdown. */
import { type AnyReason, holdsReason } from "../../base/reason.ts";
import { epoch, formatDuration } from "../../base/time.ts";
import type { Run } from "../../run/state/run.ts";
import { countedWord, countedWords, eachOnceNamed } from "../counted.ts";
import { cell, code, prose } from "../escape.ts";
import { COMMENT_ROOM, fitting } from "../fit.ts";
import { foldText, present, table } from "../markdown.ts";
import type { GivenToDraw } from "../model/context.ts";
import { LABELS, stateWord } from "../model/labels.ts";
import { type Shown, shownOf } from "../model/shown.ts";
import type { Eta, ModelNode, RunModel } from "../model/types.ts";
import { nextLine } from "../reasons/next-line.ts";
import { addStop } from "../reasons/phrases.ts";
import { rolloutsOfRun } from "../rollouts.ts";
import { releaseTitle, valuesTable } from "../values.ts";
import { clockTime, dayAndTime, runMark, runTitle, stateMark } from "../words.ts";
import { measuredOfRun } from "./analysis-markdown.ts";

/** Never over GitHub's limit: a run with too many clusters is shown by stage and by what needs attention. */
export function runComment(run: Run, now: number, remarks: readonly AnyReason[] = [], given: GivenToDraw = {}): string {
  // Of a run that has ended times are told as of its end: it reads the same whenever it is written again.
  const at = run.endedAt === undefined ? now : epoch(run.endedAt);
  const shown = shownOf(run, at, given);
  const said = remarks.map(shown.sentence);
  const say = (whole: boolean) => compose(shown, whole ? said : said.slice(0, 3), whole);
  return fitting(COMMENT_ROOM, [true, false], say, "Some of it is too long for this place.");
}

/** Rows of a run too large to be shown whole. */
const MOST_STAGES = 60;
const MOST_LINES = 20;

function compose(shown: Shown, remarks: readonly string[], everyCluster: boolean): string[] {
  const { model } = shown;
  const parts = [
    headline(shown),
    valuesTable(model.values),
    ask(shown),
    notes([...unseenPlanes(shown), ...remarks]),
    stageTable(shown, everyCluster ? Number.POSITIVE_INFINITY : MOST_STAGES),
    attention(shown),
  ];
  if (everyCluster) parts.push(rolloutsOfRun(model), measuredOfRun(model), details(shown));
  else
    parts.push(
      `The fleet is too large to show every ${countedWord(model)} here: \`stagecoach get ${model.rollout} ${model.number}\` shows them all.`,
    );
  return [...parts, footer(model)];
}

/** How it stands, why, what comes next and when it is expected to be done. */
export function headline(shown: Shown): string {
  const { model, now, of } = shown;
  const { since, endedAt, startedAt, eta } = model;
  const title = `### ${runMark(model)} ${runTitle(model)}: ${releaseTitle(model)}`;
  // A comment stays as it is until it is edited: no age, and with its day.
  const when = `${endedAt === undefined ? "since" : "at"} ${dayAndTime(endedAt ?? since ?? startedAt)}`;
  const why = prose(of(model, 1000));
  const lines = [title, `**${cell(stateWord(model))}** ${when}. ${why}`];
  lines.push(...present(nextLine(shown)));
  // Before a batch of its own is through, all that is known is from past runs.
  const isBegun = model.children.some((stage) => stage.children.some(({ passed }) => passed?.doneAt !== undefined));
  const went = isBegun ? "batches went so far" : "earlier runs went";
  lines.push(...present(doneLine(eta, now, `, as ${went}`)));
  if (endedAt !== undefined) lines.push(`Took ${formatDuration(epoch(endedAt) - epoch(startedAt))}.`);
  return lines.join("\n\n");
}

/** When it is expected to be done; "" where nobody knows. */
function doneLine(eta: Eta | undefined, now: number, because: string): string {
  if (eta === undefined) return "";
  const [usual, late] = [clockTime(eta.p50, now), clockTime(eta.p90, now)];
  return `**Done:** about ${usual}${usual === late ? "" : `, or ${late} where it is slow`}${because}.`;
}

function ask(shown: Shown): string {
  const lines = [causeLine(shown.model), ...turn(shown)].filter((line) => line !== "");
  return shown.model.ask === undefined ? "" : `> [!WARNING]\n> ${lines.join("\n>\n> ")}`;
}

/** What a person is asked while it is paused, and the way back; nothing else. */
export function turn({ whole, model: { ask: asked, wayBack } }: Shown): string[] {
  if (asked === undefined) return [];
  const [asks, back] = [asked, wayBack].map((one) => one && prose(whole(one.reason)));
  return present(`**Your turn:** ${asks}`, back !== undefined && `**The way back:** ${back}`);
}

/** What Argo CD says of what failed, or what was measured of it. */
export function causeLine({ cause }: Pick<RunModel, "cause">): string {
  if (cause === undefined) return "";
  const link = cause.link === undefined ? code(cause.name) : `[${code(cause.name)}](${cause.link})`;
  // What Argo CD says of it may stand above already.
  if (cause.told === true) return cause.link === undefined ? "" : `**Look at** ${link} in Argo CD.`;
  const measured = (cause.measured ?? []).map(({ metric, value, limit }) => {
    return [metric, value === "" ? "" : `measured ${value}`, limit].filter((part) => part !== "").join(", ");
  });
  const says = measured.length > 0 ? measured.join("; ") : cause.says;
  return `**Cause:** ${[cause.name === "" ? "" : link, cell(addStop(says), 1000)].filter((part) => part !== "").join(": ")}`;
}

/** Which control planes cannot be seen: what of the run waits for them, and what goes on. */
function unseenPlanes({ model, now, sentence }: Shown): string[] {
  return model.controlPlanes.map(({ name, since = "", facts, says, reason }) => {
    const held = facts.length === 0 ? `Its ${countedWords(model)} wait` : `${facts.join(", ")}`;
    if (says === "") return `Control plane ${name}: ${held}; the others go on.`;
    return `Stagecoach has not reached control plane ${name} since ${clockTime(since, now)}: ${reason === undefined ? says : sentence(reason)}. ${held}; the others go on.`;
  });
}

/** What is worth knowing beside the run itself: a team that does not exist, a limit of GitHub's that is near. */
function notes(remarks: readonly string[]): string {
  if (remarks.length === 0) return "";
  const lines = remarks.slice(0, 10).map((text) => `> ${prose(text)}`);
  return `> [!NOTE]\n${lines.join("\n>\n")}`;
}

/** A row for each stage; of too many, those around the one that the run is at. */
export function stageTable({ model }: Shown, most: number): string {
  const rows = model.children.map((stage) => {
    const { name, state, counts } = stage;
    const { healthy = 0, clusters = 0, failed = 0, requeued = 0, skipped = 0 } = counts ?? {};
    const rest = present(failed > 0 && `${failed} failed`, requeued > 0 && `${requeued} requeued`, skipped > 0 && `${skipped} skipped`);
    return [
      cell(name),
      LABELS[state],
      batchesDone(stage),
      clusters === 0 ? `no ${countedWords(model)}` : `${healthy}/${clusters} ${bar(healthy, clusters)}`,
      rest.join(", "),
    ];
  });
  return stagesAround(currentStage(model), ["stage", "state", "batches", `${countedWords(model)} healthy`, "not healthy"], rows, most);
}

const DONE: ReadonlySet<ModelNode["state"]> = new Set(["Healthy", "Done"]);

/** `1/3` of the batches of a stage; a stage that fills its room as it comes free has none before its turn. */
export function batchesDone({ children, counts, when }: ModelNode): string {
  const batches = children.filter((child) => child.kind === "batch" && child.state !== "Closed");
  // What a run left when it ended is over, and not done.
  const done = new Set(batches.filter((one) => one.when === "past" && DONE.has(one.state)).map((one) => one.name)).size;
  if (batches.length > 0) return `${done}/${new Set(batches.map((child) => child.name)).size}`;
  return (counts?.clusters ?? 0) > 0 && when !== "past" ? "not planned yet" : "–";
}

/** Index of the stage that a run is at; their number once all are done. */
export function currentStage({ children }: RunModel): number {
  const index = children.findIndex(({ when }) => when !== "past");
  return index < 0 ? children.length : index;
}

/** A table of stages; of too many, those around the one that the run is at. */
export function stagesAround(stage: number, head: readonly string[], rows: readonly (string | number)[][], most: number): string {
  const from = Math.max(0, Math.min(stage - 5, rows.length - most));
  return table(head, [...rows.slice(from), ...rows.slice(0, from)], most, (left) => `${left} more stages are not shown.`);
}

function bar(done: number, total: number): string {
  if (total === 0) return "";
  const filled = Math.floor(Math.min(1, done / total) * 10);
  return `\`${"█".repeat(filled)}${"░".repeat(10 - filled)}\``;
}

/** What goes on now, what was put off, and what stands beside the batches. */
function attention({ model, now, of }: Shown): string {
  const below = model.children.flatMap((stage) => stage.children.map((child) => ({ stage: stage.name, child })));
  const active = below.filter(({ child }) => child.kind === "batch" && child.when === "now");
  const lines = active.slice(0, MOST_LINES).map(({ stage, child }) => {
    const said = holdsReason(model.reason, child.reason) ? "" : words(of, child, 500);
    const why = said === "" ? "" : `. ${said}`;
    const name = `${pulls(child)}${cell(child.name)} of ${cell(stage)}`;
    return `- ${name}: **${LABELS[child.state]}** since ${clockTime(child.since ?? "", now)}${child.checking === undefined ? "" : `, ${child.checking}`}${why}`;
  });
  const loose = below.filter(({ child }) => child.kind === "cluster" && child.when !== "later");
  for (const { child } of loose.slice(0, MOST_LINES)) {
    const again = child.eta === undefined ? "" : ` Looked at again at ${clockTime(child.eta.p50, now)}.`;
    const turn = child.facts.length === 0 ? "" : ` (${child.facts.join(", ")})`;
    lines.push(`- ${code(child.name)}: **${LABELS[child.state]}**${turn}. ${words(of, child, 300)}${again}`);
  }
  if (loose.length > MOST_LINES) lines.push(`- and ${loose.length - MOST_LINES} more`);
  return lines.join("\n");
}

/** The sentence of a node, with its commands as code. */
function words(of: Shown["of"], node: ModelNode, most: number): string {
  return node.says === "" ? "" : prose(of(node, most));
}

function pulls({ links }: ModelNode): string {
  return links.map(({ name }) => `${name} `).join("");
}

function details(shown: Shown): string {
  const { model } = shown;
  const rows = model.children.flatMap((stage) =>
    stage.children.flatMap((batch) =>
      batch.kind !== "batch" || batch.when === "later" || batch.state === "Closed"
        ? []
        : batch.children.flatMap((cluster) =>
            cluster.kind !== "cluster"
              ? []
              : cluster.children.map((application) => eachOnceNamed(row(shown, { stage, batch, cluster, application }), 2, model)),
          ),
    ),
  );
  if (rows.length === 0) return "";
  const head = eachOnceNamed(["stage", "PR", countedWord(model), "application", "change", "state", "since", "why"], 2, model);
  return foldText(`Every ${countedWord(model)} moved so far`, [table(head, rows), ...model.notes.map((note) => prose(note))].join("\n\n"));
}

interface Place {
  stage: ModelNode;
  batch: ModelNode;
  cluster: ModelNode;
  application: ModelNode;
}

function row({ model, now, of }: Shown, { stage, batch, cluster, application }: Place): string[] {
  const { name, links, state, change, facts, since } = application;
  const [link] = links;
  const shown = link === undefined ? code(name) : `[${code(name)}](${link.url})`;
  const word = `${stateMark(application)} ${[LABELS[state], ...facts].join(", ")}`;
  return [
    cell(stage.name),
    pulls(batch).trim(),
    code(cluster.name),
    shown,
    present(change?.from, change?.to).map(code).join(" → "),
    word,
    clockTime(since ?? "", now),
    // What holds the run up stands in its first lines.
    application.says !== "" && holdsReason(model.reason, application.reason) ? "as above" : words(of, application, 300),
  ];
}

/** The commands that would be done now. */
function footer({ actions, endedAt, planHash, links }: RunModel): string {
  const offered = actions.filter(({ allowed }) => allowed);
  const verbs = offered.map(({ verb, args }) => code([`/${verb}`, ...args].join(" ")));
  const others = (["requeue", "skip"] as const).filter((name) => !offered.some(({ verb }) => verb === name));
  const more = endedAt === undefined ? [...others.map((name) => `\`/${name} CLUSTER…\``), "`/help`"] : [];
  const ended = endedAt === undefined ? "" : "This run has ended. ";
  const said = [...verbs, ...more].length === 0 ? "" : `You can comment ${[...verbs, ...more].join(" ")}`;
  const page = links.find(({ name }) => name === "page");
  const live = page !== undefined && `[see it live](${page.url})`;
  return `<sub>${present(`${ended}${said}`.trim(), `plan ${code(planHash.slice(0, 12))}`, live).join(" · ")}</sub>`;
}
