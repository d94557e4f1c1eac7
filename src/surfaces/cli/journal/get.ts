import type { IndexEntry } from "../../../adapters/git/journal/port.ts";
import { defined } from "../../../core/base/defined.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { runComment } from "../../../core/report/run/run-comment.ts";
import { renderTree } from "../../../core/report/tree/tree.ts";
import { releaseName } from "../../../core/report/words.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import { outputOption, parseArgs } from "../args.ts";
import { openLiveScreen } from "../live-screen.ts";
import { json, wantsColour } from "../print.ts";
import { type JournalSource, journalCommand, runNumber, type SourceOptions, withSource } from "./source.ts";

interface Options extends SourceOptions {
  watch?: boolean;
  output: "text" | "json" | "markdown";
}

/** How often the journal's ref is looked at, and with `--fetch` the remote. */
const POLL_MS = 1000;
const FETCH_MS = 5000;

/** `stagecoach get NAME [RUN] [-w]`: one run as a tree, as JSON (as it is in the journal) or as the PR comment has it. */
export async function run(argv: readonly string[]): Promise<number> {
  const description = "One run: stages, batches, clusters and Applications, why it waits and what comes next";
  const command = journalCommand("get", description, "fetch the journal first; with -w again every few seconds")
    .argument("<name>", "the rollout")
    .argument("[run]", "number of a run; default: the last one")
    .option("-w, --watch", "draw again on every change, until the run has ended; exit 1 unless it succeeded")
    .addOption(outputOption("text", "json", "markdown"));
  if (parseArgs(command, argv) === undefined) return 0;
  const options = command.opts<Options>();
  const [name = "", number] = command.args;
  const wanted = number === undefined ? undefined : runNumber(number);
  return await withSource(options, async (source) => {
    const refused = wanted === undefined ? (await source.index()).rollouts.get(name)?.refused : undefined;
    if (refused !== undefined && options.output === "text") process.stderr.write(refusedText(refused));
    if (options.watch === true) return await watch(source, name, wanted, options);
    process.stdout.write(shown(await source.runOf(name, wanted), options.output, { refused }));
    return 0;
  });
}

type Refused = NonNullable<IndexEntry["refused"]>;

/** A release that was merged and started no run is what whoever asks for the last run most likely waits for. */
function refusedText(refused: Refused): string {
  const by = refused.pull === undefined ? `commit ${refused.commit.slice(0, 10)}` : `pull request #${refused.pull}`;
  const lines = problemsOf(refused).map(({ said, file, line }) => `  ${said} (${file}:${line})`);
  return `${releaseName(refused.values)} (${by}) was merged at ${refused.at}, and no run started:\n${lines.join("\n")}\n`;
}

function problemsOf({ problems }: Refused): { code: string; said: string; file: string; line: string }[] {
  return problems.map((one) => ({ code: one.code, said: sentenceOf(one), file: String(one["file"]), line: String(one["line"]) }));
}

/** `rows`: as many lines at most, where the tree is drawn in place. */
function shown(
  run: Run,
  format: Options["output"],
  { width, rows, refused }: { width?: number | undefined; rows?: number | undefined; refused?: Refused | undefined } = {},
): string {
  if (format === "json") return json(refused === undefined ? run : { ...run, refused: { ...refused, problems: problemsOf(refused) } });
  if (format === "markdown") return `${runComment(run, Date.now())}\n`;
  return renderTree(run, Date.now(), defined({ color: wantsColour(), width: width ?? process.stdout.columns ?? 120, rows }));
}

/**
 * Draws until the run has ended: 0 if it succeeded, else 1. On a terminal in place, with ages going on; elsewhere once for
 * each change. Without a number the run that is the last one when it starts is watched.
 */
async function watch(source: JournalSource, name: string, wanted: number | undefined, options: Options): Promise<number> {
  const { repository, fetch = repository !== undefined, output } = options;
  let run = await source.runOf(name, wanted);
  const screen =
    process.stdout.isTTY === true && output === "text" ? openLiveScreen(process.stdout, { alternate: true, onResize: draw }) : undefined;
  function draw(): void {
    const { width, rows } = screen?.room() ?? {};
    const text = shown(run, output, { width, rows });
    if (screen === undefined) process.stdout.write(text);
    else screen.draw(text.trimEnd().split("\n"));
  }
  try {
    let head: string | undefined;
    let fetched = Date.now();
    for (let first = true; ; first = false) {
      if (fetch && Date.now() - fetched >= FETCH_MS) {
        await source.fetch();
        fetched = Date.now();
      }
      const now = await source.head();
      const moved = now !== head;
      if (moved && !first) run = await source.runOf(name, run.number);
      head = now;
      if (moved || screen !== undefined) draw();
      if (isEnded(run)) return run.phase === "Succeeded" ? 0 : 1;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } finally {
    screen?.close();
  }
}
