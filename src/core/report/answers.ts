import type { Run } from "../run/state/run.ts";
import { COMMANDS, type CommandSpec, ROLLOUT_FLAG } from "../spec/commands.ts";
import { countedWord, countedWords } from "./counted.ts";
import { cell, code, prose } from "./escape.ts";
import { COMMENT_ROOM, fitting } from "./fit.ts";
import { firstOf, present, table } from "./markdown.ts";
import type { GivenToDraw } from "./model/context.ts";
import { clustersBelow } from "./model/counts.ts";
import { LABELS } from "./model/labels.ts";
import { modelOf } from "./model/run-model.ts";
import { shownOf } from "./model/shown.ts";
import type { RunModel, State } from "./model/types.ts";
import { addStop } from "./reasons/phrases.ts";
import { batchesDone, currentStage, headline, stagesAround, stageTable, turn } from "./run/run-comment.ts";
import { clockTime, runTitle } from "./words.ts";

/** What a refused line was, and why. */
interface RefusedLine {
  text: string;
  author: string;
  message: string;
}

/** The answer below a comment of which something was refused, in at most `room` characters. */
export function refusalAnswer(lines: readonly RefusedLine[], room = COMMENT_ROOM): string {
  const shown = lines.map(({ text, author, message }) => `> ${code(text.slice(0, 200))}\n\n@${cell(author)}: ${prose(addStop(message))}`);
  const say = (most: number) => [
    ...shown.slice(0, most),
    shown.length > most ? `and ${shown.length - most} more` : "",
    "<sub>`/help` lists what can be said here.</sub>",
  ];
  return fitting(room, [shown.length, 50, 20, 5], say, "One of them is too long for this place.");
}

/** What `/help` answers, and `/help COMMAND`. */
export function helpAnswer(only: CommandSpec | undefined): string {
  if (only !== undefined) return oneCommand(only);
  const rows = COMMANDS.map(({ usage, summary, who }) => [usages(usage), prose(summary), who]);
  return [
    "### 🧭 What can be said here",
    "A line of a comment that begins with `/`, on the release pull request or a batch's. 👀 means read, 🚀 done, 😕 refused.",
    table(["command", "does", "needs"], rows),
    `<sub>\`/help COMMAND\` says more of one. Where a release has several rollouts: \`--rollout NAME\`. Permission is what you have on this repository now; \`.github/stagecoach.yaml\` may narrow it to teams.</sub>`,
  ].join("\n\n");
}

function oneCommand(spec: CommandSpec): string {
  const flags = [...spec.flags, ROLLOUT_FLAG].map(({ name, value, summary }) => [
    `\`${present(`--${name}`, value).join(" ")}\``,
    prose(summary),
  ]);
  return [
    `### 🧭 \`/${spec.name}\``,
    `${prose(spec.summary)}. Needs **${spec.who}**, on ${spec.where}.`,
    `\`\`\`text\n${spec.examples.join("\n")}\n\`\`\``,
    table(["option", ""], flags),
  ].join("\n\n");
}

function usages(usage: string): string {
  return usage
    .split(" | ")
    .map((one) => code(one))
    .join(" or ");
}

/** What `/status` answers: how the run stands, in a few lines, and where its whole page is. */
export function statusAnswer(run: Run, now: number, author: string, live: string | undefined, given: GivenToDraw = {}): string {
  const shown = shownOf(run, now, given);
  const { model } = shown;
  const page =
    live === undefined
      ? `\`stagecoach get ${cell(model.rollout)} ${model.number}\` shows every ${countedWord(model)}`
      : `[every ${countedWord(model)}](${live})`;
  const foot = `<sub>As of ${clockTime(new Date(now).toISOString(), now)}, asked for by ${cell(author)} · ${page}</sub>`;
  const say = (most: number) => [headline(shown), turn(shown).join("\n\n"), stageTable(shown, most), foot];
  return fitting(COMMENT_ROOM, [MOST_STAGES, 10], say, TOO_LONG);
}

/** What `/plan` answers of a run: what is done and what is to come, stage by stage. */
export function planAnswer(run: Run, now: number, author: string): string {
  const model = modelOf(run, now);
  const title = `### 🗺️ ${runTitle(model)}: the plan of ${cell(model.release)}`;
  const foot = `<sub>The plan is frozen while the run lasts, but for ${countedWords(model)} that are skipped, put off or new · plan ${code(model.planHash.slice(0, 12))} · asked for by ${cell(author)} at ${clockTime(new Date(now).toISOString(), now)}</sub>`;
  const ways = [
    { names: true, most: Number.POSITIVE_INFINITY },
    { names: false, most: MOST_STAGES },
  ];
  return fitting(COMMENT_ROOM, ways, ({ names, most }) => [title, stages(model, names, most), foot], TOO_LONG);
}

/** Names beyond these are counted. */
const MOST_NAMES = 40;
const MOST_STAGES = 60;
const TOO_LONG = "Some of it is too long for this place.";

/** What is there, or was left out, is not to come. */
const THERE: ReadonlySet<State> = new Set(["Healthy", "Skipped", "NotInRun"]);

/** A row for each stage; of many, those around the one that the run is at. */
function stages(model: RunModel, names: boolean, most: number): string {
  const rows = model.children
    .filter(({ state }) => state !== "NotInRun")
    .map((stage, index) => {
      const { healthy = 0, clusters = 0 } = stage.counts ?? {};
      const row = [index + 1, cell(stage.name), LABELS[stage.state], batchesDone(stage), `${healthy}/${clusters}`];
      const states = new Map(clustersBelow(stage).map(({ name, state }) => [name, state]));
      return names ? [...row, nameList([...states].flatMap(([name, state]) => (THERE.has(state) ? [] : [name])))] : row;
    });
  return stagesAround(
    currentStage(model),
    ["", "stage", "state", "batches", `${countedWords(model)} healthy`, ...(names ? ["to come"] : [])],
    rows,
    most,
  );
}

function nameList(clusters: readonly string[]): string {
  const names = clusters.map(code);
  return firstOf(names, MOST_NAMES, names.length, " ") || "–";
}
