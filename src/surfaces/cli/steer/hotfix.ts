import { postCommand } from "./post-command.ts";

/** `stagecoach hotfix NAME CLUSTER… REASON`: comments `/hotfix` on the run's pull request. */
export const run = postCommand("hotfix");
