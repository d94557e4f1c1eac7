import { LABELS } from "../../../core/report/model/labels.ts";
import { standingOf } from "../../../core/report/model/waits-on.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import { duration, gather, like, outputOption, parseArgs } from "../args.ts";
import { CommandError } from "../command.ts";
import { type DataFormat, formatData, plain, visible } from "../print.ts";
import { follow, tellRefused } from "./follow.ts";
import { onlyRollout, refuseUnknown } from "./known-rollouts.ts";
import { tellPage } from "./page-address.ts";
import { type JournalSource, journalCommand, runNumber, type SourceOptions, withSource } from "./source.ts";
import { isGood, PAUSED, statusLine, statusOf, TIME_OVER } from "./status.ts";

interface Options extends SourceOptions {
  for?: string[];
  release?: string;
  timeout: number;
  throughPauses: boolean;
  output: "text" | "json" | "yaml";
}

type Goal = { kind: "done" } | { kind: "paused" } | { kind: "stage"; stage: string };

const HELP = `
Exit 0 where it is there, 1 where it never will be (the run ended otherwise, or the release started none), 4 where the time is over, 5 where
the run is paused, so that nothing happens before somebody acts.

  stagecoach wait payments --release v1.4.2                      from the merge of the release PR until every stage is done
  stagecoach wait payments --for stage=canary --timeout 30m      until the stage "canary" is done
  stagecoach wait payments --for done --for paused               whichever comes first`;

function program() {
  const command = journalCommand("wait", "Waits until a run is where you say: for scripts, by its exit code")
    .argument("[name]", "the rollout; default: the only one there is")
    .argument("[run]", "number of a run; default: the last one")
    .option("--for <what>", "done (the default), paused, or stage=NAME; given again: whichever comes first", gather)
    .option("--release <version>", "a run of this release, which need not have begun")
    .option("--through-pauses", "go on waiting while the run is paused, for somebody to act", false)
    .option("--timeout <duration>", "how long, such as 90s or 30m; 0: for ever", duration, 3_600_000)
    .addOption(outputOption("text", "json", "yaml"))
    .addHelpText("after", HELP);
  // Commander shows a default as it is, and this one is in milliseconds.
  command.options.find((one) => one.long === "--timeout")?.default(3_600_000, "1h");
  return command;
}

/** `stagecoach wait NAME --for done|paused|stage=…`: for scripts, which go on by its exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = program();
  if (parseArgs(command, argv) === undefined) return 0;
  const options = command.opts<Options>();
  const [named, number] = command.args;
  const goals = (options.for ?? ["done"]).map(goalOf);
  const { timeout, output, release, throughPauses } = options;
  return await withSource(options, async (source) => {
    const name = named ?? (await onlyRollout(source));
    const which = { name, number: number === undefined ? undefined : runNumber(number), release };
    await refuseUnknown(source, name, release);
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
      const reached = run === undefined ? undefined : goals.find((goal) => isThere(run, goal));
      const isStill = run !== undefined && !throughPauses && waitsForSomebody(run);
      if (run !== undefined && (reached !== undefined || isEnded(run) || isStill)) {
        process.stdout.write(await answer(run, reached, { source, output }));
        return reached !== undefined ? 0 : isStill ? PAUSED : 1;
      }
      const line = run === undefined ? `${name} has no run${release === undefined ? "" : ` of ${release}`} yet` : statusLine(run);
      if (line !== last) process.stderr.write(`${new Date().toISOString().slice(11, 19)} UTC  ${line}\n`);
      last = line;
    }
    if (seen !== undefined && output !== "text") process.stdout.write(await dataOf(seen, null, { source, output }));
    process.stderr.write(`The time of --timeout is over: ${seen === undefined ? `${name} has no such run yet.` : statusLine(seen)}\n`);
    return TIME_OVER;
  });
}

function goalOf(text: string): Goal {
  if (text === "done") return { kind: "done" };
  if (text === "paused") return { kind: "paused" };
  const stage = /^stage=(.+)$/s.exec(text)?.[1];
  if (stage !== undefined) return { kind: "stage", stage };
  throw new CommandError(2, visible(`--for ${text}: write done, paused or stage=NAME${like(text, ["done", "paused", "stage="])}`));
}

/** It is paused, and nothing ends that by itself. */
function waitsForSomebody(run: Run): boolean {
  return run.phase === "Paused" && standingOf(run).waitsOn !== undefined;
}

/** Throws CommandError 2 where the run has no such stage. */
function isThere(run: Run, goal: Goal): boolean {
  if (goal.kind === "done") return isEnded(run) && isGood(run);
  if (goal.kind === "paused") return run.phase === "Paused";
  const names = run.plan.stages.map(({ name }) => name);
  const byNumber = /^[1-9]\d{0,3}$/.test(goal.stage) ? Number(goal.stage) - 1 : -1;
  const at = names.includes(goal.stage) ? names.indexOf(goal.stage) : byNumber;
  if (names[at] !== undefined) return run.stage > at || run.phase === "Succeeded";
  const there = names.map((name) => `"${name}"`).join(", ");
  throw new CommandError(
    2,
    visible(`${run.rollout} #${run.number} has no stage "${goal.stage}"${like(goal.stage, names)}; it has ${there}`),
  );
}

async function dataOf(
  run: Run,
  reached: string | null,
  { source, output }: { source: JournalSource; output: DataFormat },
): Promise<string> {
  return formatData({ ...(await statusOf(run, source)), reached }, output);
}

async function answer(
  run: Run,
  reached: Goal | undefined,
  { source, output }: { source: JournalSource; output: Options["output"] },
): Promise<string> {
  const goal = reached === undefined ? null : reached.kind === "stage" ? `stage=${reached.stage}` : reached.kind;
  if (output !== "text") return await dataOf(run, goal, { source, output });
  const name = `${run.rollout} #${run.number}`;
  const why = plain(sentenceOf(run.why, run));
  const how = `${LABELS[run.phase]}: ${why}`;
  if (goal === null && run.phase === "Paused")
    return plain(`${name} is paused: ${why}. It goes on once somebody acts: stagecoach get ${run.rollout} shows how`).concat("\n");
  return plain(goal === null ? `${name} will not get there: ${how}` : `${name} is there (${goal}): ${how}`).concat("\n");
}
