import { defined } from "../../../core/base/defined.ts";
import { cutToWidth } from "../../../core/base/text-width.ts";
import { epoch } from "../../../core/base/time.ts";
import { refusedModel } from "../../../core/report/model/refused.ts";
import { runDocument } from "../../../core/report/model/run-document.ts";
import { modelOf } from "../../../core/report/model/run-model.ts";
import type { History } from "../../../core/report/plan/duration.ts";
import { addStop } from "../../../core/report/reasons/phrases.ts";
import { runComment } from "../../../core/report/run/run-comment.ts";
import { renderTree } from "../../../core/report/tree/tree.ts";
import { isPutBackNext } from "../../../core/run/outcome/rollback.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import { outputOption, parseArgs } from "../args.ts";
import { LiveScreen } from "../live-screen.ts";
import { columnsOf, formatData, visible, wantsColour } from "../print.ts";
import { ageText } from "./fetch.ts";
import { follow, type Sight, tellRefused } from "./follow.ts";
import { onlyRollout } from "./known-rollouts.ts";
import { tellPage } from "./page-address.ts";
import { type JournalSource, journalCommand, runNumber, type SourceOptions, withSource } from "./source.ts";

interface Options extends SourceOptions {
  watch?: boolean;
  output: "text" | "wide" | "json" | "yaml" | "markdown";
}

/** `stagecoach get NAME [RUN] [-w]`: one run as a tree, as a document for programs, or as the PR comment has it. */
export async function run(argv: readonly string[]): Promise<number> {
  const description = "One run: stages, batches, clusters and Applications, why it waits and what comes next";
  const command = journalCommand("get", description)
    .argument("[name]", "the rollout; default: the only one there is")
    .argument("[run]", "number of a run; default: the last one")
    .option("-w, --watch", "draw again on every change, until the run has ended, and its rollback; exit 1 unless it succeeded")
    .addOption(outputOption("text", "wide", "json", "yaml", "markdown"));
  if (parseArgs(command, argv) === undefined) return 0;
  const options = command.opts<Options>();
  const [named, number] = command.args;
  const wanted = number === undefined ? undefined : runNumber(number);
  return await withSource(options, async (source) => {
    const name = named ?? (await onlyRollout(source));
    const refused = wanted === undefined ? (await source.known())?.rollouts.get(name)?.refused : undefined;
    if (refused !== undefined && isForPeople(options.output)) tellRefused(refused);
    const found = await source.runOf(name, wanted);
    if (isForPeople(options.output)) await tellPage(options, found);
    if (options.watch === true) {
      if (wanted === undefined && isOver(found)) tellOver(found);
      return await watch(source, found, options);
    }
    const history = await pastOf(source, found);
    process.stdout.write(shown(found, options.output, { refused, history, asOf: (await source.asOf())?.at }));
    return 0;
  });
}

/** It says only when the run may be done: what cannot be read of earlier runs hides nothing of this one. */
async function pastOf(source: JournalSource, run: Run): Promise<History | undefined> {
  return isEnded(run) ? undefined : await source.history(run).catch(() => undefined);
}

/** Neither it nor what puts it back goes on. */
function isOver(run: Run): boolean {
  return isEnded(run) && !isPutBackNext(run);
}

/** Whoever has just merged a release means its run, which may not have begun. */
function tellOver({ rollout, number }: Run): void {
  const next = `stagecoach status ${rollout} --release VERSION waits for that of a release merged just now`;
  process.stderr.write(visible(`${rollout} #${number} had ended before; ${next}.\n`));
}

function isForPeople(output: Options["output"]): boolean {
  return output === "text" || output === "wide";
}

interface Room {
  width?: number | undefined;
  /** As many lines at most, where the tree is drawn in place. */
  rows?: number | undefined;
}

function shown(
  run: Run,
  format: Options["output"],
  more: Room & { refused?: Sight["refused"]; history?: History | undefined; asOf?: number | undefined } = {},
): string {
  const { width, rows, refused, history, asOf = Date.now() } = more;
  if (format === "markdown") return `${runComment(run, nowOf(run), [], defined({ history }))}\n`;
  if (format === "json" || format === "yaml") {
    const model = modelOf(run, nowOf(run), defined({ history }));
    return formatData(runDocument(model, asOf, { refused: refused && refusedModel(refused) }), format);
  }
  const options = {
    color: wantsColour(),
    width: width ?? columnsOf() ?? 120,
    rows,
    history,
    wide: format === "wide" || undefined,
  };
  return renderTree(run, nowOf(run), defined(options));
}

/** Of a bot whose clock is ahead of this one, as the demo's is, nothing is younger than the newest thing that happened. */
function nowOf(run: Run): number {
  const batches = run.batches.map((batch) => Math.max(epoch(batch.since), ...batch.targets.map(({ since }) => epoch(since))));
  return Math.max(Date.now(), epoch(run.since), ...batches);
}

/** Whoever watches goes on by himself through a short outage of the network. */
const SILENT_MS = 5 * 60_000;

/**
 * Draws until the run has ended, or the remote has not answered for long: 0 if it succeeded, else 1. On a terminal in place, with ages going on; elsewhere once for
 * each change.
 */
async function watch(source: JournalSource, first: Run, { output }: Options): Promise<number> {
  let run = first;
  let history = await pastOf(source, run);
  let age = "";
  // What it was when the command began is told already.
  let why = (await source.asOf())?.why;
  const inPlace = process.stdout.isTTY === true && isForPeople(output);
  const screen = inPlace ? new LiveScreen(process.stdout, { alternate: true, onResize: draw }) : undefined;
  function draw(): void {
    if (screen === undefined) process.stdout.write(shown(run, output, { history }));
    else {
      const { width, rows } = screen.room();
      const lines = shown(run, output, { width, rows: rows - 1, history })
        .trimEnd()
        .split("\n");
      screen.draw([...lines, cutToWidth(`${age}${age === "" ? "" : " · "}Ctrl-C leaves`, width)]);
    }
  }
  try {
    for await (const sight of follow(source, { name: first.rollout, number: first.number, andBack: true }, { silentMs: SILENT_MS })) {
      if (sight.run !== undefined && sight.run.number !== run.number) history = await pastOf(source, sight.run);
      run = sight.run ?? run;
      const asOf = await source.asOf();
      age = asOf === undefined ? "" : ageText(asOf, Date.now());
      if (screen === undefined && why !== asOf?.why) process.stderr.write(`${addStop(age.replace(/^as/, "As"))}\n`);
      why = asOf?.why;
      if (sight.moved || screen !== undefined) draw();
      if (isOver(run)) break;
    }
    return run.phase === "Succeeded" ? 0 : 1;
  } finally {
    screen?.close();
  }
}
