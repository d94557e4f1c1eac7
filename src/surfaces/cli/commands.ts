import type { CommandName } from "../../core/spec/commands.ts";
import type { CommandModule } from "./command.ts";

/** A subcommand that comments the command of its name on the run's pull request. */
function commenting(name: CommandName): () => Promise<CommandModule> {
  return async () => (await import("./steer/post-command.ts")).postCommand(name);
}

/** Loads nothing but the one command asked for, so that `--help` answers at once. */
export const COMMANDS: Record<string, { summary: string; load: () => Promise<CommandModule> }> = {
  demo: {
    summary: "a whole rollout of a sample against the embedded world, in the terminal and on a local page",
    load: () => import("./demo/demo.ts"),
  },
  sim: { summary: "parts of the embedded world on their own (sim github, sim argocd)", load: () => import("./sim/sim.ts") },
  serve: { summary: "the bot: a GitHub App, with its page and metrics", load: () => import("./serve/serve.ts") },
  migrate: {
    summary: "makes the tables by which several replicas share repositories, or brings them up to date",
    load: () => import("./migrate/migrate.ts"),
  },
  notify: { summary: "sends a test message to a destination of the server's (notify test)", load: () => import("./notify/notify.ts") },
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
  wait: {
    summary: "until a run is done (--for: paused, or past a stage); for scripts, by its exit code",
    load: () => import("./journal/wait.ts"),
  },
  history: { summary: "the runs of a rollout; with a number, what happened in that one", load: () => import("./journal/history.ts") },
  journal: {
    summary: "whose the journal is, a run as it has it, and accepting it (journal show, run, accept)",
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
