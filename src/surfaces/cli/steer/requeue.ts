import { postCommand } from "./post-command.ts";

/** `stagecoach requeue NAME`: comments `/requeue` on the run's pull request. */
export const run = postCommand("requeue");
