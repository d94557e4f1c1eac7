import { type Proof, proofs } from "./proof.ts";

const GATES = "test/e2e/gates.long › windows, a freeze added mid-run";
const COMMANDS = "test/e2e/commands › from the command line";
const FIELDS = "test/e2e/fields.long › rules that most rollouts leave at their defaults";
const PEOPLE = "test/e2e/people.long › ";
const ROLLBACK = "test/e2e/rollback.long › ";
const HELP = "src/core/report/answers › /help has every command";

/** Every field of `.github/stagecoach.yaml`. What `rollouts.NAME` holds is as in the resource. */
export const SETTINGS_FIELDS: ReadonlyMap<string, Proof> = proofs(`
mode | src/core/spec/parse/parse › the repo's settings say it | ${FIELDS} | src/core/report/plan/plan-comment › mode
rollouts | src/core/spec/parse/parse › the repo's settings say it | test/e2e/commands › from the command line | src/surfaces/cli/lint/lint › a rollout that no file declares
commands.*.teams | src/core/spec/repo-config › teams by command, and bots | ${COMMANDS} | test/e2e/commands › sre
bots | src/core/spec/repo-config › teams by command, and bots | ${COMMANDS} | ${HELP}
freezes[].schedule freezes[].duration freezes[].timeZone freezes[].kind | src/engine/release-pr/outside-warnings › freezes of the repo and of the server | ${GATES} | test/e2e/gates.long › it is frozen by the repo
freezes[].selector freezes[].rollouts freezes[].stages | src/core/run/gates/window › a freeze for %s | ${GATES} | test/e2e/gates.long › it is frozen by the repo
limits.clusters limits.targets | src/core/plan/limits › is made smaller, and the run goes on to its end | ${FIELDS} | src/core/report/plan/plan-rules › at most 10 clusters
limits.selected[].selector | src/core/run/gates/gates › a limit for some clusters counts those alone | ${FIELDS} | src/core/report/plan/plan-rules › 2 clusters where
limits.selected[].clusters limits.selected[].targets | src/core/plan/limits › is cut in the plan, by %s | ${FIELDS} | src/core/report/plan/plan-rules › 2 clusters where
limits.selected[].stages limits.selected[].rollouts | src/core/run/gates/gates › a limit for %s counts that alone | ${GATES} | src/core/report/plan/plan-rules › in stage canary of rollout payments
limits.label.key limits.label.percent | src/core/run/gates/gates › a percentage of a label's clusters | ${FIELDS} | src/core/report/plan/plan-rules › 30% of the clusters of one
plans.forks | src/engine/release-pr/withheld › the settings may let all be planned, by plans.forks | test/e2e/bad-input › one from a fork that edits rollouts/ | src/core/report/plan/plan-check › comes from a fork
notifications[].to notifications[].events notifications[].rollouts notifications[].stages | src/core/report/notify/events › who is told: by event, rollout and stage | test/e2e/notify › a run is told of in Slack, Teams, CloudEvents | src/core/report/notify/services › waits for you
journal.keep | src/adapters/git/journal/journal › history and old runs are read from Git alone | ${FIELDS} | src/surfaces/cli/journal/commands › history lists the runs
`);

/** Every command of the table, and each of its flags. */
export const COMMAND_PROOFS: ReadonlyMap<string, Proof> = proofs(`
promote | src/core/run/commands/commands › ends a bake, never the wait for health | ${PEOPLE}/skip leaves a cluster out, /requeue puts one | ${HELP}
promote--full | src/core/run/gates/gates › ends the bake under way and every later one | test/e2e/steps › one PR a weight | ${HELP}
promote--rollouts | src/core/run/commands/rollouts › the order is journalled before it is tried | test/e2e/rollouts.long › pause at a step | ${HELP}
requeue requeue--for | src/core/run/commands/commands › /requeue puts a cluster to the stage's end | ${PEOPLE}/skip leaves a cluster out, /requeue puts one | ${HELP}
promote--reason requeue--reason skip--reason | src/core/run/commands/command-reasons › /%s is told with the reason that its flag gives | test/e2e/act › a person promotes | ${HELP}
skip | src/core/run/commands/commands › leaves out a cluster that is not reached yet | ${PEOPLE}/skip leaves a cluster out | ${HELP}
pause | src/core/run/commands/commands › a pause waits for the outcome of a merge under way | ${PEOPLE}a batch PR that somebody merges while the run is paused | ${HELP}
resume | src/core/run/commands/commands › a resume written before the pause | ${PEOPLE}a batch PR that somebody merges while the run is paused | ${HELP}
resume--rollouts | src/core/run/commands/rollouts › /resume --rollouts of a paused run resumes both | test/e2e/rollouts.long › pause at a step | ${HELP}
abort | src/core/run/commands/commands › closes what is open | ${PEOPLE}/abort closes the open PR | ${HELP}
abort--rollouts | src/core/run/commands/rollouts › /abort --rollouts goes on | test/e2e/rollouts.long › pause at a step | ${HELP}
retry | src/core/run/commands/commands › /retry looks anew at the failed ones | test/e2e/argo.long › a cluster that is stuck past its deadline | ${HELP}
retry--rollouts | src/core/run/commands/rollouts › %s | test/e2e/rollouts.long › pause at a step | ${HELP}
rollback | src/core/run/outcome/rollback › works on a run long over | ${ROLLBACK}the way back: automatic | ${HELP}
rollback--to | src/core/run/outcome/rollback › --to writes that version | ${ROLLBACK}the way back: automatic | ${HELP}
halt halt--off halt--for | src/core/run/gates/halt › holds the clusters it names until it ends | ${GATES} | ${HELP}
hotfix | src/core/run/gates/gates › brings a cluster forward | ${ROLLBACK}onNewRelease: Queue and Reject | ${HELP}
status | src/core/run/commands/commands › /status and /plan are answered whoever can read | ${COMMANDS} | src/core/report/answers › /status says how it stands
plan | src/core/run/commands/commands › /status and /plan are answered whoever can read | ${COMMANDS} | src/core/report/answers › /plan names what is still to come
help | src/surfaces/server/comments/inbox › /help lists what is built | ${COMMANDS} | ${HELP}
`);
