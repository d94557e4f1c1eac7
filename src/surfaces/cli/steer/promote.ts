import { postCommand } from "./post-command.ts";

/** `stagecoach promote NAME`: comments `/promote` on the run's pull request. */
export const run = postCommand("promote");
