import { commandOfParts } from "../args.ts";

const HELP = `Usage: stagecoach journal PART [ARGS…]

The branch that keeps the state of all runs: whose it is, whether it is as the bot left it, and what to do where it is not.

  show    its head, its owner, and every commit that is not the bot's
  accept  accepts it as it stands, whoever wrote it
  run     one run as its files have it: the frozen plan, edits, evidence, commands
`;

/** `stagecoach journal show|accept|run …`. */
export const run = commandOfParts("journal", HELP, {
  show: () => import("./show.ts"),
  accept: () => import("./accept.ts"),
  run: () => import("./journal-run.ts"),
});
