import { postCommand } from "./post-command.ts";

/** `stagecoach halt NAME [cluster=A,B] REASON`: comments `/halt` on the run's pull request. */
export const run = postCommand("halt");
