/** What the demo prints: the run drawn in place or told line by line, and the last words. Called by `demo.ts`. */
import { count } from "../../../core/base/count.ts";
import { defined } from "../../../core/base/defined.ts";
import { type Clock, epoch } from "../../../core/base/time.ts";
import { stateWord } from "../../../core/report/model/labels.ts";
import { runDocument } from "../../../core/report/model/run-document.ts";
import { modelOf } from "../../../core/report/model/run-model.ts";
import type { ModelNode, RunModel } from "../../../core/report/model/types.ts";
import type { History } from "../../../core/report/plan/duration.ts";
import { renderTree } from "../../../core/report/tree/tree.ts";
import { releaseName } from "../../../core/report/words.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { LiveScreen } from "../live-screen.ts";
import { markdownText } from "../markdown-text.ts";
import { columnsOf, type DataFormat, foldLine, formatData, terminalWidth, wantsColour } from "../print.ts";

/** A run, and how long the runs before it took. */
interface ShownRun {
  run: Run;
  history?: History | undefined;
}

/** What a person has to do. */
export interface Ask {
  /** The same for as long as the same is waited for. */
  id: string;
  lines: readonly string[];
}

interface Options {
  clock: Clock;
  quiet: boolean;
  several: boolean;
  /** Lines with the addresses of what can be opened. */
  pages: readonly string[];
}

/**
 * Draws the run in place on a terminal; where there is none, prints a line for each thing that changed, so that a log of
 * it reads well too.
 */
export function demoScreen({ clock, quiet, several, pages }: Options) {
  const out = process.stdout;
  const live = out.isTTY === true && !quiet;
  const color = live && wantsColour();
  let screen: LiveScreen | undefined;
  const said = new Set<string>();

  function print(text: string): void {
    if (!quiet) out.write(`${text}\n`);
  }

  /** The pages' addresses and what a person is asked stand below the trees, where they stay in sight. */
  function redraw(runs: readonly ShownRun[], asks: readonly Ask[]): void {
    screen ??= new LiveScreen(out, { alternate: false });
    const { width, rows } = screen.room();
    const below = [pages, ...asks.map(({ lines }) => lines)].flatMap((lines) => ["", ...lines.flatMap((line) => foldLine(line, width))]);
    const share = Math.max(3, Math.floor((rows - below.length) / runs.length));
    const trees = runs.map(({ run, history }) => renderTree(run, clock.now(), defined({ color, width, rows: share, history })).trimEnd());
    screen.draw([...trees.join("\n").split("\n"), ...below]);
  }

  function once({ id, line, more }: Told): void {
    if (said.has(id)) return;
    said.add(id);
    print(`${new Date(clock.now()).toISOString().slice(11, 19)}  ${line}: ${more}`);
  }

  function tell(runs: readonly ShownRun[], asks: readonly Ask[]): void {
    for (const { run, history } of runs) statesOf(modelOf(run, clock.now(), defined({ history })), several).forEach(once);
    for (const { id, lines } of asks) {
      if (!said.has(id)) for (const line of lines) print(`  ${line}`);
      said.add(id);
    }
  }

  return {
    /** A line that stays. */
    say: print,
    /** A Markdown text, as the bot wrote it, below a heading. */
    show(heading: string, markdown: string): void {
      print(`\n${heading}:\n`);
      const columns = columnsOf(out);
      const width = columns === undefined ? undefined : Math.max(16, columns - 4);
      for (const line of markdownText(markdown, { width, colour: wantsColour() }).split("\n")) print(`  │ ${line}`.trimEnd());
      print("");
    },
    /** Something that happened while the tree is drawn: shown above it. */
    note(line: string): void {
      if (screen === undefined) print(`  ${line}`);
      else screen.note(`  ${line}`);
    },
    draw(runs: readonly ShownRun[], asks: readonly Ask[] = []): void {
      if (live) redraw(runs, asks);
      else tell(runs, asks);
    },
    close(): void {
      screen?.close();
      screen = undefined;
    },
  };
}

export type DemoScreen = ReturnType<typeof demoScreen>;

/** Something that is told once, as a line and what is said to it. */
interface Told {
  /** The same for as long as the same is told. */
  id: string;
  line: string;
  more: string;
}

/** Each batch's state and the run's, in the words of the model. */
function statesOf(model: RunModel, several: boolean): Told[] {
  const of = several ? `${model.rollout}, ` : "";
  const batches = batchesIn(model).map(({ batch, stage }): Told => {
    const pull = pullOf(batch)?.name;
    const state = `${stateWord(batch)}${batch.checking === undefined ? "" : `, ${batch.checking}`}`;
    const place = [...(stage === "" ? [] : [stage]), batch.name].join(", ");
    return {
      id: [model.name, batch.number, pull, stateWord(batch), batch.checking !== undefined].join("/"),
      line: `${of}${place}${pull === undefined ? "" : ` (PR ${pull})`}: ${state}`,
      more: batch.children.flatMap(({ kind, name }) => (kind === "cluster" ? [name] : [])).join(", "),
    };
  });
  const line = `${model.name}: ${stateWord(model)}`;
  return [...batches, { id: line, line, more: model.says }];
}

/** The batches that have begun, each with its stage. */
function batchesIn(model: RunModel): { batch: ModelNode; stage: string }[] {
  return belowOf(model, "");
}

function belowOf({ children }: ModelNode, stage: string): { batch: ModelNode; stage: string }[] {
  return children.flatMap((child) => {
    if (child.kind === "batch") return child.passed === undefined ? [] : [{ batch: child, stage }];
    return belowOf(child, child.kind === "stage" ? child.name : stage);
  });
}

/** Its pull request, `#7`, and where that is. */
export function pullOf({ links }: ModelNode) {
  return links.find(({ name }) => /^#\d+$/.test(name));
}

/** Of several runs a list. */
export function printData(runs: readonly Run[], violations: readonly unknown[], durationMs: number, format: DataFormat): void {
  const shown = runs.map((run) => {
    const now = epoch(run.endedAt ?? run.since);
    const model = modelOf(run, now);
    const pulls = batchesIn(model).flatMap(({ batch }) => pullOf(batch) ?? []);
    return { ...runDocument(model, now), pullRequests: pulls.map(({ name }) => Number(name.slice(1))) };
  });
  const [only] = shown;
  const figures = { durationMs: Math.round(durationMs), violations };
  process.stdout.write(formatData(shown.length === 1 ? { ...only, ...figures } : { runs: shown, ...figures }, format));
}

interface Figures {
  violations: number;
  durationMs: number;
  once: boolean;
  journal: string;
  /** Its address on the embedded GitHub. */
  repository: string;
  faults?: number;
  pauseForMe?: boolean;
  /** Of whoever watches, and of who releases: nobody approves what they released. */
  tokens?: { you: string; alice: string };
}

/** The last words; with `--once` nothing of the embedded world outlives them, so nothing of it is named. */
export function lastWords(runs: readonly Run[], figures: Figures): string {
  const { violations, durationMs, once, journal, repository } = figures;
  const models = runs.map((run) => modelOf(run, epoch(run.endedAt ?? run.since)));
  const opened = models.flatMap(batchesIn).filter(({ batch }) => pullOf(batch) !== undefined);
  const merged = opened.filter(({ batch }) => batch.passed?.mergedAt !== undefined).length;
  const pulls = opened.map(({ batch }) => pullOf(batch)?.url);
  const there = once
    ? [`  the pages of it, kept up to look at: ${asTyped("demo", false)}, in a terminal`]
    : [
        `  git log --oneline of the journal:    git --git-dir ${journal} log --oneline stagecoach/journal`,
        `  one of the batches' pull requests:   ${pulls[0] ?? "none was opened"}`,
        `  the rollout itself:                  ${repository}/blob/main/rollouts/${runs[0]?.rollout}.yaml`,
      ];
  const several = runs.length > 1;
  const lines = [
    "",
    ...models.map((model) => `${several ? `${model.rollout}: ` : ""}${stateWord(model)}: ${model.says}`),
    `${count(merged, "pull request")}, ${violations === 0 ? "every promise kept" : `${count(violations, "promise")} broken`}, ${(durationMs / 1000).toFixed(1)} s of your time.`,
    "",
    "Where to look next",
    ...there,
    ...whatNext(figures),
    ...(once ? [] : nextRelease(runs[0], figures)),
  ];
  return `${lines.flatMap((line) => foldLine(line, terminalWidth())).join("\n")}\n`;
}

/** A subcommand as whoever started this one can type it: `npm run demo` works where nothing is installed. */
export function asTyped(command: string, takesOptions = true): string {
  if (process.env["npm_lifecycle_event"] !== "demo") return `stagecoach ${command}`;
  if (command !== "demo") return `npm run -s stagecoach -- ${command}`;
  return takesOptions ? "npm run demo --" : "npm run demo";
}

/** How the next release is made by hand, as alice, and steered as oneself. */
function nextRelease(run: Run | undefined, { repository, tokens }: Figures): string[] {
  if (run === undefined || tokens === undefined) return [];
  const { rollout, release } = run;
  const version = releaseName(release.values).replace(/\d+$/, (patch) => String(Number(patch) + 1));
  const [scheme, place] = repository.split("://");
  // Short lines, to be copied as they stand from a terminal of 80 columns.
  return [
    "",
    `Release ${version} yourself, in another terminal. As alice:`,
    `  R=${place} GH_ENTERPRISE_TOKEN=${tokens.alice}; export GH_ENTERPRISE_TOKEN`,
    `  git clone ${scheme}://alice:$GH_ENTERPRISE_TOKEN@$R next`,
    `  git -C next tag ${version} && git -C next push origin ${version}`,
    `  ${asTyped("release")} ${rollout} ${version} -R ${scheme}://$R`,
    "Open the pull request that it names, and press Merge pull request. As you:",
    `  GH_ENTERPRISE_TOKEN=${tokens.you}`,
    `  ${asTyped("get")} ${rollout} -w -R ${scheme}://$R`,
  ];
}

/** Whoever has just seen something is not sent to see it again. */
function whatNext({ faults = 0, pauseForMe = false }: Figures): string[] {
  const steer = `  steering it yourself:                ${asTyped("demo")} --pause-for-me`;
  const failure = `  how a failure looks:                 ${asTyped("demo")} --fail eu-central-1-b=degraded`;
  return [...(pauseForMe ? [] : [faults === 0 ? steer : `${steer} --fail eu-central-1-b=degraded`]), ...(faults === 0 ? [failure] : [])];
}
