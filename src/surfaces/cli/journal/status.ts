import { stateWord } from "../../../core/report/model/labels.ts";
import { runSummary } from "../../../core/report/model/run-document.ts";
import { modelOf } from "../../../core/report/model/run-model.ts";
import type { RunSummary } from "../../../core/report/model/schema/run.ts";
import { standingOf } from "../../../core/report/model/waits-on.ts";
import { plainSentence } from "../../../core/report/reasons/say.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import { duration, outputOption, parseArgs } from "../args.ts";
import { formatData, plain, visible } from "../print.ts";
import { follow, tellRefused, type Which } from "./follow.ts";
import { onlyRollout, refuseUnknown } from "./known-rollouts.ts";
import { tellPage } from "./page-address.ts";
import { type JournalSource, journalCommand, runNumber, type SourceOptions, withSource } from "./source.ts";

interface Options extends SourceOptions {
  watch: boolean;
  release?: string;
  timeout: number;
  output: "text" | "json" | "yaml";
}

/** What was asked for was not so when the time was over: nothing failed, and it may come yet. */
export const TIME_OVER = 4;
/** The run is paused, so what is waited for does not come before somebody acts. */
export const PAUSED = 5;

/**
 * `stagecoach status NAME`: a line for each thing that changes, until the run has ended, as `kubectl argo rollouts status` does until a Rollout
 * is Healthy or Degraded. A run that fails most often is paused, and then stands still until somebody acts: that is an end here, too.
 */
export async function run(argv: readonly string[]): Promise<number> {
  const command = journalCommand("status", "A line for each change of the run, until it has ended or is paused: exit 0 where it succeeded")
    .argument("[name]", "the rollout; default: the only one there is")
    .argument("[run]", "number of a run; default: the last one")
    .option("-w, --watch [yes]", "until it has ended or is paused; --watch=false says how it stands now", (text) => text !== "false", true)
    .option("--no-watch", "the same as --watch=false: exit 0 unless it failed")
    .option("--release <version>", "wait for a run of this release to begin")
    .option("-t, --timeout <duration>", "how long, such as 30m; 0: for ever. Exit 4 where it is over", duration, 0)
    .addOption(outputOption("text", "json", "yaml"));
  if (parseArgs(command, argv) === undefined) return 0;
  const options = command.opts<Options>();
  const [named, number] = command.args;
  const asked = { number: number === undefined ? undefined : runNumber(number), release: options.release };
  return await withSource(options, async (source) => {
    const name = named ?? (await onlyRollout(source));
    const which = { ...asked, name };
    // A run that is asked for by nothing but its rollout is there, or the answer is no.
    if (which.release === undefined) await source.runOf(name, which.number);
    else await refuseUnknown(source, name, which.release);
    return options.watch ? await watch(source, which, options) : await once(source, which, options);
  });
}

async function once(source: JournalSource, which: Which, options: Options): Promise<number> {
  const { output } = options;
  for await (const { run } of follow(source, which, { withinMs: 0 })) {
    if (run === undefined) break;
    if (output === "text") await tellPage(options, run);
    process.stdout.write(output === "text" ? `${statusLine(run)}\n` : formatData(await statusOf(run, source), output));
    return isEnded(run) && !isGood(run) ? 1 : 0;
  }
  process.stderr.write(`${which.name} has no run of ${which.release} yet.\n`);
  return 1;
}

async function watch(source: JournalSource, which: Which, options: Options): Promise<number> {
  const { output, timeout } = options;
  let last = "";
  let seen: Run | undefined;
  for await (const { run, refused, moved } of follow(source, which, { withinMs: timeout === 0 ? undefined : timeout })) {
    if (run !== undefined && seen === undefined && output === "text") await tellPage(options, run);
    seen = run;
    if (!moved) continue;
    if (run === undefined && refused !== undefined) {
      tellRefused(refused);
      return 1;
    }
    const line = run === undefined ? `Pending - ${which.name} has no run of ${which.release} yet` : statusLine(run);
    if (line !== last && output === "text") process.stdout.write(`${line}\n`);
    last = line;
    if (run !== undefined && standsStill(run)) break;
  }
  if (seen !== undefined && output !== "text") process.stdout.write(formatData(await statusOf(seen, source), output));
  if (seen?.phase === "Paused" && output === "text") process.stderr.write(goesOn(seen));
  if (seen !== undefined && standsStill(seen)) return isGood(seen) ? 0 : 1;
  process.stderr.write("The time of --timeout is over; the run goes on.\n");
  return TIME_OVER;
}

/** Nothing more happens before somebody acts, or at all. */
function standsStill(run: Run): boolean {
  return isEnded(run) || run.phase === "Paused";
}

function goesOn({ rollout }: Run): string {
  return visible(
    `It goes on once somebody acts: stagecoach get ${rollout} shows how. stagecoach wait ${rollout} --through-pauses waits for that.\n`,
  );
}

/** It came to the end it was meant for. */
export function isGood(run: Pick<Run, "phase" | "kind">): boolean {
  return run.phase === "Succeeded" || (run.phase === "RolledBack" && run.kind === "Rollback");
}

/** `Waiting for @acme/sre - a member of @acme/sre has to approve …`. */
export function statusLine(run: Run): string {
  return plain(`${stateWord(standingOf(run))} - ${plainSentence(run.why, run)}`);
}

export async function statusOf(run: Run, source: JournalSource): Promise<RunSummary> {
  return runSummary(modelOf(run, Date.now()), (await source.asOf())?.at ?? Date.now());
}
