import { postCommand } from "./post-command.ts";

/** `stagecoach retry NAME`: comments `/retry` on the run's pull request. */
export const run = postCommand("retry");
