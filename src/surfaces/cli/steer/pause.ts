import { postCommand } from "./post-command.ts";

/** `stagecoach pause NAME`: comments `/pause` on the run's pull request. */
export const run = postCommand("pause");
