import { postCommand } from "./post-command.ts";

/** `stagecoach status NAME`: comments `/status` on the run's pull request. */
export const run = postCommand("status");
