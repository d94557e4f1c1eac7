import { postCommand } from "./post-command.ts";

/** `stagecoach skip NAME`: comments `/skip` on the run's pull request. */
export const run = postCommand("skip");
