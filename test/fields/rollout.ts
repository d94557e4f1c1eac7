import { type Proof, proofs } from "./proof.ts";

/** Fields whose inner ones are those of another field, by the same schema. */
export const ALIKE: Record<string, string> = {
  "spec.sourceRef.selector": "spec.stages[].clusters.selector",
  "spec.stages[].requeue.selector": "spec.stages[].clusters.selector",
  "spec.quarantine.selector": "spec.stages[].clusters.selector",
  "spec.stages[].targets.selector": "spec.stages[].clusters.selector",
  "spec.windows[].selector": "spec.stages[].clusters.selector",
  "spec.stages[].windows[].selector": "spec.stages[].clusters.selector",
  "spec.limits.selected[].selector": "spec.stages[].clusters.selector",
  "spec.limits.selected[].label": "spec.limits.label",
  "limits.selected[].label": "limits.label",
  "spec.stages[].steps[].analysis": "spec.stages[].analysis",
  "spec.stages[].hooks.after[]": "spec.stages[].hooks.before[]",
  "spec.stages[].hooks.onFailure[]": "spec.stages[].hooks.before[]",
};

const EXAMPLES = "src/core/spec/schema › accepts %s, as the parser does";
const PARSED = "src/core/spec/parse/parse › reads every field that is built";
const FIELDS = "test/e2e/fields.long › rules that most rollouts leave at their defaults";
const GATES = "test/e2e/gates.long › windows, a freeze added mid-run";
const MEMBERS = "test/e2e/membership.long › §9.16";
const STEPS = "test/e2e/steps › one PR a weight";
const HOOKS = "test/e2e/analysis.long › are asked with signed events";
const RULES = "src/core/report/plan/plan-rules › ";
const PLAN = "src/core/report/plan/plan-comment › ### 🗺️ Plan: payments";
const PLACE = "src/core/report/plan/plan-comment › appsets/payments.yaml";

/** Every field of `rollouts/*.yaml`, by its path. */
export const ROLLOUT_FIELDS: ReadonlyMap<string, Proof> = proofs(`
apiVersion kind metadata.namespace metadata.labels metadata.annotations | ${EXAMPLES} | ${FIELDS} | ${PLAN}
metadata.name | src/core/spec/rules/together › clash over a name | ${FIELDS} | ${PLAN}
spec.sourceRef.apiGroup | ${EXAMPLES} | ${FIELDS} | ${PLAN}
spec.sourceRef.kind spec.sourceRef.selector | src/engine/resolve/targets › of kind Application are picked by their labels | ${FIELDS} | ${PLAN}
spec.sourceRef.names | src/surfaces/cli/lint/lint-sets › a set that is misspelt among several | test/e2e/by-application › two sets by a label of theirs | src/surfaces/cli/lint/lint-sets › ApplicationSets of argocd
spec.sourceRef.name spec.sourceRef.namespace | src/engine/resolve/targets › of another set, another control plane | ${FIELDS} | src/surfaces/cli/lint/lint-outside › my-app
spec.sourceRef.controlPlane | src/core/spec/rules/together › may each have a set of their own | test/e2e/planes.long › one that is unreachable | src/core/report/rollouts › hub
spec.sourceRef.unverified | src/engine/round/guard-planes › without either it is refused | ${FIELDS} | src/engine/round/guard-planes › unverified
spec.targetBy | src/engine/resolve/counted › application: each Application is one | test/e2e/by-application › dev, then staging | test/e2e/by-application › **3 Applications**
spec.release.version | src/core/spec/parse/parse › fills every default in | test/e2e/pin-kinds.long › the branches are fast-forwarded | ${PLAN}
spec.release.from.file spec.release.from.path | src/engine/config-repo/releases-found › a rollout that turns to commits | ${GATES} | ${PLAN}
spec.release.from.paths | src/core/spec/rules/release › stands in one file by a path a name | ${FIELDS} | src/core/report/values › goes to
spec.release.values | ${PARSED} | ${FIELDS} | src/core/report/batch/delivery-text › release.values.version
spec.release.commit.paths | src/engine/config-repo/releases-found › every commit that touches the paths | test/e2e/release-pulls › the merge commit of a PR | src/core/report/plan/plan-comment › the merge commit of this PR
spec.release.tag.range spec.release.tag.prefix | src/engine/config-repo/releases-found › the newest in the range is one | test/e2e/release-pulls › a tag in the range starts a run | src/engine/round/start/tracking-issue › my-app: v2
spec.release.attempt | src/engine/config-repo/releases-found › a raised attempt releases the same commit again | ${FIELDS} | ${PLAN}
spec.pins[].file spec.pins[].path spec.pins[].value | ${PARSED} | ${FIELDS} | ${PLACE}
spec.pins[].part spec.pins[].create | ${PARSED} | ${FIELDS} | ${PLACE}
spec.pins[].clusterGenerator.file spec.pins[].clusterGenerator.old spec.pins[].clusterGenerator.new spec.pins[].clusterGenerator.path | ${PARSED} | test/e2e/pin-kinds.long › clusters move between its entries | ${PLACE}
spec.pins[].copy.from spec.pins[].copy.to | src/engine/resolve/copies › is planned by trees as Git has them | test/e2e/copy.long › one ring, then the next | test/e2e/copy.long › (files: 1 added, 1 changed, 1 removed)
spec.pins[].branch | src/engine/resolve/targets › branch: the branch of the cluster | test/e2e/pin-kinds.long › the branches are fast-forwarded | src/core/report/plan/plan-comment › branches
spec.pins[].tag | src/engine/resolve/targets › tag: the same | test/e2e/pin-kinds.long › the tags, annotated at first | src/core/report/plan/plan-comment › branches
spec.pins[].fastForward | src/engine/resolve/targets › tag: the same | test/e2e/pin-kinds.long › a tag that somebody moved aside | src/core/report/plan/plan-comment › branches
spec.mode | src/core/spec/parse/parse › fills every default in | test/e2e/release-pulls › under Observe a release is only commented on | src/core/report/plan/plan-comment › mode
spec.delivery.strategy | src/core/spec/rules/steps › Rolling and Commit are refused | test/e2e/pin-kinds.long › the branches are fast-forwarded | src/core/report/plan/plan-comment › strategy
spec.delivery.merge | src/core/run/gates/github › passes with merge: Manual | test/e2e/rules.long › a person's journey through it | src/core/report/batch/batch-gates › merge: "Manual"
spec.delivery.ahead | src/core/run/batches/ahead › is not opened with delivery.ahead: false | ${FIELDS} | ${RULES}opened in its turn, never ahead
spec.delivery.method | ${PARSED} | ${FIELDS} | test/e2e/fields.long › rebase
spec.delivery.labels spec.delivery.reviewers.teams spec.delivery.reviewers.users | src/core/spec/parse/parse › fills every default in | test/e2e/silence › a batch that waits for a person wears its labels | src/core/report/run/closing-summary › could not be asked
spec.delivery.base | src/engine/lint/lint-outside › a fleet that is set up well | ${FIELDS} | src/surfaces/cli/lint/lint-outside › delivery.base
spec.delivery.title spec.delivery.body spec.delivery.commitMessage spec.delivery.signoff | src/core/report/batch/delivery-text › every variable has its value | ${FIELDS} | src/core/report/batch/delivery-text › payments 42 v1.4.2 #10 alice
spec.onNewRelease | src/core/spec/parse/parse › fills every default in | test/e2e/rollback.long › onNewRelease: Queue and Reject | ${RULES}onNewRelease: Queue
spec.onFailure.action spec.onFailure.maxFailures | src/core/run/outcome/rollback › Continue: it goes on | ${FIELDS} | ${RULES}More than 5% failed clusters: it is rolled back.
spec.stages[].name | src/core/spec/parse/parse › each mistake | ${FIELDS} | src/core/report/run/report › everywhere else
spec.stages[].clusters.selector.matchLabels | src/core/base/selector › is shown as kubectl takes it | ${GATES} | ${PLAN}
spec.stages[].clusters.selector.matchExpressions[].key spec.stages[].clusters.selector.matchExpressions[].operator spec.stages[].clusters.selector.matchExpressions[].values | src/core/base/selector › is shown as kubectl takes it | ${FIELDS} | ${PLAN}
spec.stages[].clusters.topologyKey spec.stages[].topologyKey | src/core/spec/parse/parse › clusters.topologyKey means the stage's | ${GATES} | ${RULES}never two of one \`zone\` at once
spec.stages[].maxClusters | src/core/plan/plan › the first maxClusters by name | ${FIELDS} | ${PLAN}
spec.stages[].maxUnavailable | src/core/plan/plan › hold maxUnavailable clusters | ${FIELDS} | src/core/report/plan/plan-comment › at once
spec.stages[].maxUnavailable.start spec.stages[].maxUnavailable.factor spec.stages[].maxUnavailable.max | src/core/plan/pace › is planned as 1, 2, 4 | ${FIELDS} | ${RULES}1, then times 2 after each
spec.stages[].batching | src/core/run/run-rules › is filled again as single clusters are confirmed | ${FIELDS} | ${RULES}batching: Rolling
spec.stages[].order.by spec.stages[].order.key | src/core/plan/plan › ordered by a label | ${FIELDS} | ${RULES}by label
spec.stages[].order.seed | src/core/plan/pace › is the same for the same seed | ${FIELDS} | ${RULES}the same for one seed
spec.stages[].order.pairs | src/core/plan/pace › an active cluster and its standby | ${FIELDS} | ${RULES}never two of a pair at once
spec.stages[].bake | src/core/run/run-rules › starts over where a cluster becomes unhealthy | ${FIELDS} | src/core/report/plan/plan-comment › bake 10m
spec.stages[].progressDeadline | src/core/run/run-rules › has failed where it is not healthy within progressDeadline | test/e2e/argo.long › a cluster that is stuck past its deadline | ${RULES}in canary healthy within 20m
spec.stages[].requeue.attempts spec.stages[].requeue.interval | src/core/run/run-rules › counts a cluster as failed after the last look | ${MEMBERS} | src/core/report/model/run-model › tried after the stage
spec.stages[].approval.teams spec.stages[].approval.count | src/core/run/gates/approval-gate › two of them are two people | ${GATES} | ${RULES}2 approvals of sre
spec.stages[].approval.notBy | src/core/run/gates/approval › does not approve a stage that says so | test/attacks/own-approval › one of the team pushes | src/core/report/plan/plan-rules › 2 approvals of sre, not by who merged it
spec.stages[].analysis.templates[].templateName spec.stages[].analysis.args[].name spec.stages[].analysis.args[].value | src/core/analysis/lint › the seed's webcheck beside a bake | test/e2e/analysis.long › a service that turns from ok to nok | src/core/report/run/analysis › webcheck: 3 ok, 2 failed
spec.stages[].analysis.templates[].clusterScope spec.stages[].analysis.templates[].file | src/core/spec/rules/steps › the seed's are read | ${STEPS} | src/core/report/run/analysis › webcheck
spec.stages[].analysis.when | src/core/run/checks/analysis › Background begins with the first merge | test/e2e/analysis.long › a service that turns from ok to nok | src/core/report/run/analysis › after the stage
spec.stages[].steps[].setWeight spec.stages[].steps[].pause.duration | src/core/spec/rules/steps › the seed's are read | ${STEPS} | src/core/report/steps › steps 20 → 60 → 100
spec.stages[].hooks.before[].url | src/core/run/checks/hooks › are asked one after the other | ${HOOKS} | src/core/report/run/analysis › hook before the stage
spec.stages[].hooks.before[].timeout | src/core/analysis/lint › lint of analyses | ${HOOKS} | src/core/report/run/analysis › hook before the stage
spec.stages[].sync | src/core/run/targets/sync › a sync is wished for once the wish stands in the journal | test/e2e/sync.long › sync: Request: Argo CD is asked once | src/core/report/plan/plan-rules › Argo CD is asked to sync
spec.stages[].jitter | src/core/plan/pace › holds the merge for a time that is the same | ${FIELDS} | ${RULES}up to 5m apart
spec.settle spec.grace spec.seenDeadline spec.waitingDeadline | ${PARSED} | ${FIELDS} | ${RULES}A cluster is live once it held still for 5s; failing after 2m
spec.baseline | src/core/run/targets/target-rules › Tolerate: what was Degraded before | ${FIELDS} | src/core/report/rollouts › as before its batch
spec.allowUnstaged | src/core/spec/parse/parse › fills every default in | ${FIELDS} | src/core/report/plan/plan-check › allowUnstaged: true
spec.dependsOn[].rollout spec.dependsOn[].atLeast | src/core/run/gates/gates › a cluster waits until the other rollout is confirmed there | ${FIELDS} | ${RULES}Each cluster waits for
spec.windows[].schedule spec.windows[].duration spec.windows[].timeZone | src/engine/release-pr/outside-warnings › outside of it the warning says until when | ${GATES} | ${RULES}closed now, next open
spec.windows[].kind | src/core/spec/windows › a deny window wins over an allow window | ${GATES} | ${RULES}Windows: allow
spec.stages[].windows[].schedule spec.stages[].windows[].duration spec.stages[].windows[].timeZone spec.stages[].windows[].kind | src/core/run/gates/window › those of a stage hold its batches alone | ${GATES} | src/core/report/plan/plan-rules › besides: allow
spec.windows[].selector spec.windows[].stages spec.stages[].windows[].selector | src/core/run/gates/window › a window of the rollout for %s | ${GATES} | src/core/report/plan/plan-rules › in stage canary: deny
spec.limits.clusters spec.limits.targets spec.limits.label.key spec.limits.label.percent | src/core/plan/limits › is cut by the limits of its rollout | ${GATES} | src/core/report/plan/plan-rules › In flight at once of this rollout
spec.limits.selected[].selector spec.limits.selected[].stages spec.limits.selected[].clusters spec.limits.selected[].targets | src/core/run/gates/gates › a rollout's own limits count its own runs alone | ${GATES} | src/core/report/plan/plan-rules › in stages canary, everywhere else
spec.inventory.file | src/engine/config-repo/inventory › each mistake is told with its line and column | ${FIELDS} | ${RULES}Clusters are those of
spec.inventory.files | src/surfaces/cli/plan/plan-planes › spec.inventory.files: each control plane has its own | test/e2e/planes.long › each is a target of its own | src/core/report/plan/plan-rules › one for each control plane
spec.joiners | src/core/run/targets/joiners › joiners: Ignore names it once and leaves it | ${FIELDS} | ${RULES}Clusters that appear during the run are asked about.
spec.rollback.maxUnavailable spec.rollback.skipBake | src/core/run/outcome/rollback › goes by | ${FIELDS} | ${RULES}A rollback goes by 50% at once, without bakes.
spec.quarantine.max spec.quarantine.onReturn spec.quarantine.selector | src/core/run/batches/quarantine › onReturn: Skip leaves it as it is | ${FIELDS} | ${RULES}at most 3; also where they come back
spec.flap.ignore spec.flap.most spec.flap.window | src/core/run/targets/target-rules › baseline, flap and suspended are read | ${FIELDS} | ${RULES}dips under 30s are passed over, 3 within 10m
spec.suspended | src/core/run/targets/target-rules › a Rollout that pauses while its target bakes | ${FIELDS} | ${RULES}what is paused counts as healthy
spec.proof | src/engine/round/observe/judge-targets › what the objects hold is asked | ${FIELDS} | ${RULES}the revision that Argo CD shows is proof enough
spec.weightPins[].file spec.weightPins[].path spec.weightPins[].value | src/core/spec/rules/steps › steps without them, and they without steps | ${STEPS} | src/core/report/steps › step 2 of 3 (weight 60)
spec.weightPins[].replicas | src/core/plan/weigh › 10 replicas on 2 clusters | ${STEPS} | src/core/report/steps › at 20
`);
