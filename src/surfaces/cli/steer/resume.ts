import { postCommand } from "./post-command.ts";

/** `stagecoach resume NAME`: comments `/resume` on the run's pull request. */
export const run = postCommand("resume");
