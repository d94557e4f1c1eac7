import { postCommand } from "./post-command.ts";

/** `stagecoach abort NAME`: comments `/abort` on the run's pull request. */
export const run = postCommand("abort");
