import { postCommand } from "./post-command.ts";

/** `stagecoach rollback NAME`: comments `/rollback` on the run's pull request. */
export const run = postCommand("rollback");
