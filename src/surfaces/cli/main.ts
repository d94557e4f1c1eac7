#!/usr/bin/env node
import type { CommandName } from "../../core/spec/commands.ts";
import { CommandError, type CommandModule } from "./command.ts";

/** A subcommand that comments the command of its name on the run's pull request. */
function commenting(name: CommandName): () => Promise<CommandModule> {
  return async () => (await import("./steer/post-command.ts")).postCommand(name);
}

/** Loads nothing but the one command asked for, so that `--help` answers at once. */
const COMMANDS: Record<string, { summary: string; load: () => Promise<CommandModule> }> = {
  demo: {
    summary: "a whole rollout of a sample against the embedded world, in the terminal and on a local page",
    load: () => import("./demo/demo.ts"),
  },
  sim: { summary: "parts of the embedded world on their own (sim github, sim argocd)", load: () => import("./sim/sim.ts") },
  serve: { summary: "the bot: a GitHub App, with its page and metrics", load: () => import("./serve/serve.ts") },
  init: {
    summary: "looks through a config repo and proposes rollouts: pins found, stages by label",
    load: () => import("./init/init.ts"),
  },
  lint: { summary: "validates rollouts against the repo: schema, pins, selectors, coverage", load: () => import("./lint/lint.ts") },
  plan: { summary: "which cluster moves when, and from what to what", load: () => import("./plan/plan.ts") },
  simulate: {
    summary: "a run of the plan through a simulated world: timeline, blast radius, duration",
    load: () => import("./simulate/simulate.ts"),
  },
  pin: { summary: "reads one pin, or splices a value in (pin get, pin set)", load: () => import("./pin/pin.ts") },
  appset: { summary: "the Applications an ApplicationSet would generate (appset render)", load: () => import("./appset/appset.ts") },
  analysis: {
    summary: "measures what an AnalysisTemplate says, once, from here (analysis run)",
    load: () => import("./analysis/analysis.ts"),
  },
  list: { summary: "the last run of each rollout, from the journal in Git", load: () => import("./journal/list.ts") },
  get: { summary: "one run as a tree: stage, batch, cluster, Application; -w follows it", load: () => import("./journal/get.ts") },
  status: { summary: "a line for each change of a run, until it has ended", load: () => import("./journal/status.ts") },
  wait: { summary: "until a run is done, paused or past a stage; for scripts, by its exit code", load: () => import("./journal/wait.ts") },
  history: { summary: "what happened in a run, commit by commit", load: () => import("./journal/history.ts") },
  journal: {
    summary: "whose the journal is, and accepting it as it stands (journal show, journal accept)",
    load: () => import("./journal/journal.ts"),
  },
  release: { summary: "opens the release's pull request", load: () => import("./plan/release.ts") },
  promote: { summary: "ends the wait of a run", load: commenting("promote") },
  pause: { summary: "nothing of a run merges until it is resumed", load: commenting("pause") },
  resume: { summary: "a paused run goes on", load: commenting("resume") },
  abort: { summary: "ends a run", load: commenting("abort") },
  retry: { summary: "a run that stopped on failures goes on", load: commenting("retry") },
  requeue: { summary: "puts clusters to their stage's end", load: commenting("requeue") },
  skip: { summary: "leaves clusters out of a run", load: commenting("skip") },
  rollback: { summary: "puts the old values back", load: commenting("rollback") },
  halt: { summary: "no run merges a change for these clusters", load: commenting("halt") },
  hotfix: { summary: "one batch now, out of its turn", load: commenting("hotfix") },
  comment: {
    summary: "any other command, such as /status or /plan",
    load: async () => (await import("./steer/post-command.ts")).comment,
  },
  explain: { summary: "whether a change is live and healthy in an Application, and why not", load: () => import("./explain/explain.ts") },
  completion: {
    summary: "a completion script for bash, zsh or fish",
    load: async () => (await import("./completion.ts")).completionOf(COMMANDS),
  },
  version: { summary: "the version", load: () => import("./version.ts") },
};

/** Help lists a group from its first command on. */
const GROUPS: Readonly<Record<string, string>> = {
  demo: "Look at it",
  serve: "Run the bot",
  init: "Write rollouts",
  list: "Watch runs",
  release: "Release and steer, as a comment of yours on GitHub",
  explain: "Find out why",
  completion: "This program",
};

function help(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length), 0);
  const rows = Object.entries(COMMANDS).flatMap(([name, { summary }]) => {
    const group = GROUPS[name];
    return [...(group === undefined ? [] : ["", `${group}:`]), `  ${name.padEnd(width)}  ${summary}`];
  });
  const end = "stagecoach COMMAND --help has the options of each; the tutorial is docs/tutorial.md.";
  return ["Usage: stagecoach COMMAND [ARGS…]", ...rows, "", end, ""].join("\n");
}

async function didYouMean(name: string): Promise<string> {
  const known = Object.keys(COMMANDS);
  const { nearest } = await import("../../core/base/nearest.ts");
  const near = known.find((one) => name !== "" && one.startsWith(name)) ?? nearest(name, known);
  return near === undefined ? "" : `, did you mean ${near}?`;
}

async function main(argv: string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    process.stdout.write(help());
    return name === undefined ? 2 : 0;
  }
  const command = COMMANDS[name === "--version" || name === "-V" ? "version" : name];
  if (command === undefined)
    throw new CommandError(2, `there is no command "${name}"${await didYouMean(name)}; stagecoach --help lists them`);
  return await (await command.load()).run(rest);
}

// `stagecoach … | head` closes the pipe early: that is an end, not an error. Whether anybody reads errors changes nothing.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    if (stream === process.stdout) process.exit(0);
  });
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  // What was typed, or read, may be anybody's.
  const { visible } = await import("./print.ts");
  // Whatever was being done is not told any more.
  const begin = process.stderr.isTTY ? "\r\u001b[K" : "";
  process.stderr.write(`${begin}stagecoach: ${visible(error.message)}\n`);
  process.exitCode = error.exitCode;
}
