import { type Proof, proofs } from "./proof.ts";

const GATES = "test/e2e/gates › windows, a freeze added mid-run";
const COMMANDS = "test/e2e/commands › from the command line";
const FIELDS = "test/e2e/fields › rules that most rollouts leave at their defaults";
const PEOPLE = "test/e2e/people › ";
const ROLLBACK = "test/e2e/rollback › ";
const HELP = "src/report/answers › /help has every command";

/** Every field of `.github/stagecoach.yaml`. What `rollouts.NAME` holds is as in the resource. */
export const SETTINGS_FIELDS: ReadonlyMap<string, Proof> = proofs(`
mode | src/rollout/parse › the repo's settings say it | ${FIELDS} | src/report/plan-comment › mode
rollouts | src/rollout/parse › the repo's settings say it | test/e2e/commands › from the command line | src/cli/lint › a rollout that no file declares
commands.*.teams | src/rollout/repo-config › teams by command, and bots | ${COMMANDS} | test/e2e/commands › sre
bots | src/rollout/repo-config › teams by command, and bots | ${COMMANDS} | ${HELP}
freezes[].schedule freezes[].duration freezes[].timeZone freezes[].kind | src/reconcile/plan-check-windows › freezes of the repo and of the server | ${GATES} | test/e2e/gates › it is frozen by the repo
limits.clusters limits.targets | src/rollout/limits › is made smaller, and the run goes on to its end | ${FIELDS} | src/report/plan-rules › at most 10 clusters
limits.label.key limits.label.percent | src/rollout/gates › a percentage of a label's clusters | ${FIELDS} | src/report/plan-rules › 30% of the clusters of one
journal.keep | src/git/journal › history and old runs are read from Git alone | ${FIELDS} | src/cli/journal-commands › history lists the runs
`);

/** Every command of the table, and each of its flags. */
export const COMMAND_PROOFS: ReadonlyMap<string, Proof> = proofs(`
promote | src/rollout/commands › ends a bake, never the wait for health | ${PEOPLE}/skip leaves a cluster out, /requeue puts one | ${HELP}
promote--full | src/rollout/gates › ends the bake under way and every later one | test/e2e/steps › one PR a weight | ${HELP}
promote--rollouts | src/rollout/run-rollouts › the order is journalled before it is tried | test/e2e/rollouts › pause at a step | ${HELP}
requeue requeue--for | src/rollout/commands › /requeue puts a cluster to the stage's end | ${PEOPLE}/skip leaves a cluster out, /requeue puts one | ${HELP}
skip | src/rollout/commands › leaves out a cluster that is not reached yet | ${PEOPLE}/skip leaves a cluster out | ${HELP}
pause | src/rollout/commands › a pause waits for the outcome of a merge under way | test/e2e/journey › /pause holds the next merge | ${HELP}
resume | src/rollout/commands › a resume written before the pause | test/e2e/journey › /pause holds the next merge | ${HELP}
resume--rollouts | src/rollout/run-rollouts › /resume --rollouts of a paused run resumes both | test/e2e/rollouts › pause at a step | ${HELP}
abort | src/rollout/commands › closes what is open | ${PEOPLE}/abort closes the open PR | ${HELP}
abort--rollouts | src/rollout/run-rollouts › /abort --rollouts goes on | test/e2e/rollouts › pause at a step | ${HELP}
retry | src/rollout/commands › /retry looks anew at the failed ones | test/e2e/argo › a cluster that is stuck past its deadline | ${HELP}
retry--rollouts | src/rollout/run-rollouts › %s | test/e2e/rollouts › pause at a step | ${HELP}
rollback | src/rollout/rollback › works on a run long over | ${ROLLBACK}the way back: automatic | ${HELP}
rollback--to | src/rollout/rollback › --to writes that version | ${ROLLBACK}the way back: automatic | ${HELP}
halt halt--off halt--for | src/rollout/gates › holds the clusters it names until it ends | ${GATES} | ${HELP}
hotfix | src/rollout/gates › brings a cluster forward | ${ROLLBACK}onNewRelease: Queue and Reject | ${HELP}
status | src/rollout/commands › /status and /plan are answered whoever can read | ${COMMANDS} | src/report/answers › /status says how it stands
plan | src/rollout/commands › /status and /plan are answered whoever can read | ${COMMANDS} | src/report/answers › /plan names what is still to come
help | src/bot/command-inbox › /help lists what is built | ${COMMANDS} | ${HELP}
`);
