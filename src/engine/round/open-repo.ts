import { openCommits } from "../config-repo/commits.ts";
import { openDurations, openPastRuns, type PastRuns } from "../config-repo/history-durations.ts";
import { openReleases } from "../config-repo/releases.ts";
import { openTags } from "../config-repo/releases-tags.ts";
import { openRemoteHeads, type RemoteHeads } from "../config-repo/remote-heads.ts";
import { openRenderer } from "../config-repo/rendered.ts";
import { openRevisions } from "../config-repo/revisions.ts";
import { openSettings, type Settings } from "../config-repo/settings.ts";
import { openJudgeInCell } from "../release-pr/judge-in-cell.ts";
import { type JudgePull, openPullJudge } from "../release-pr/judge-pull.ts";
import { openPlanPublisher, type PublishPlans } from "../release-pr/plan-pulls.ts";
import { openShownPlans, type ShownPlans } from "../release-pr/shown-plans.ts";
import { openPins } from "../resolve/pin-values.ts";
import { openPlanner } from "../resolve/plan-now.ts";
import { openActor } from "./act/act.ts";
import { openBatchCommits } from "./act/batch-commit.ts";
import { openBranchMover } from "./act/branch-moves.ts";
import { openProposer } from "./act/propose.ts";
import { openRolloutActions } from "./act/rollout-actions.ts";
import { openBranchSweeper } from "./act/sweep-branches.ts";
import { openAnalyses } from "./analyses.ts";
import { openAttention } from "./attention.ts";
import { openBackoff, openCircling } from "./backoff.ts";
import { openBatchPulls } from "./batch-pulls.ts";
import { openRules } from "./branch-rules.ts";
import { type CheckRuns, openCheckRuns } from "./check-runs.ts";
import type { RepoContext } from "./context.ts";
import { openDecider } from "./decide.ts";
import { openMoveGuard } from "./guard/branch-guard.ts";
import { openGuard } from "./guard/guard.ts";
import { openRefresher } from "./guard/refresh.ts";
import { openTargetReader } from "./guard/reread.ts";
import { openSyncer } from "./guard/syncer.ts";
import { openHooks } from "./hooks.ts";
import { openJournalLooks } from "./journal-look.ts";
import { MergeQueue } from "./merge-queue.ts";
import { openNoteUnprotected } from "./note-unprotected.ts";
import { openBranchHeads } from "./observe/branch-heads.ts";
import { openChildren } from "./observe/children.ts";
import { openContents } from "./observe/contents.ts";
import { openEditRemarks } from "./observe/edited-midrun.ts";
import { openFormerPlaces } from "./observe/former-places.ts";
import { openJudge } from "./observe/judge-targets.ts";
import { openFacts } from "./observe/mirror-facts.ts";
import { openObserver } from "./observe/observe.ts";
import { openJoiners } from "./observe/observe-joiners.ts";
import { openPullLooks } from "./observe/observe-pull.ts";
import { openTargetLooks } from "./observe/observe-targets.ts";
import { openPullWatch } from "./observe/open-pulls.ts";
import { People } from "./observe/people.ts";
import { openRolloutReader } from "./observe/rollouts-seen.ts";
import { openOwners, openStability } from "./observe/stability.ts";
import { openPermissions, type Permissions } from "./permissions.ts";
import { openDeployments } from "./publish/deployments.ts";
import { Gates } from "./publish/gate-check.ts";
import { openGateChecks } from "./publish/gate-checks.ts";
import { openLabels } from "./publish/labels.ts";
import { openTeller } from "./publish/notify.ts";
import { Publisher } from "./publish/publish.ts";
import { openRolloutComments } from "./publish/rollouts-publish.ts";
import { type Comments, openComments } from "./publish/send-comment.ts";
import { openShownWaits } from "./publish/shown-waits.ts";
import { Recorder } from "./record.ts";
import { openRound, type Round } from "./round.ts";
import { openStandBy } from "./stand-by.ts";
import { openMergedPulls } from "./start/merged-pull.ts";
import { openRefusedReleases } from "./start/refused-releases.ts";
import { openStarter } from "./start/start-runs.ts";
import { openTrackingIssues } from "./start/tracking-issue.ts";
import { justDone, ofRun, trace } from "./within.ts";

/** One repo, as those who look after it see it. */
export interface RepoLoop {
  round: Round;
  publishPlans: PublishPlans;
  shownPlans: Pick<ShownPlans, "of">;
  remote: Pick<RemoteHeads, "last" | "hear" | "hasNews">;
  permissions: Permissions;
  people: Pick<People, "forgetReviews" | "forgetTeams">;
  checkRuns: Pick<CheckRuns, "ask" | "isAsked">;
  comments: Pick<Comments, "settled">;
  settings: Pick<Settings, "journalKeep">;
  pastRuns: Pick<PastRuns, "of">;
}

export function openRepo(context: RepoContext): RepoLoop {
  const shared = openShared(context);
  const { attention, remote, permissions, people, checkRuns, comments, settings, queue, backoff, refused, journals, pastRuns, shownPlans } =
    shared;
  const { within = justDone } = context;
  const publishPlans = trace(within, "plans", openPlanPublisher(context, { ...shared, judgePull: openPullsJudge(context, shared) }));
  const publisher = new Publisher(context, shared);
  const recorder = new Recorder(context, remote, attention);
  const startRuns = trace(within, "start", openStarter(context, shared));
  const formerPlaces = openFormerPlaces(context);
  const watchOpenPulls = openPullWatch(context, shared.gateChecks, shared.rules);
  const round = openRound(context, {
    attention,
    journals,
    standBy: openStandBy(context, {
      attention,
      starter: (commands) => openStarter({ ...context, commands }, shared),
      formerPlaces,
      watchOpenPulls,
      publisher,
    }),
    remote,
    queue,
    backoff,
    refused,
    startRuns,
    formerPlaces,
    noteUnprotected: openNoteUnprotected(context, attention),
    decide: trace(within, "decide", openDecider(context, trace(within, "observe", openObserver(context, shared)), shared.reader), ofRun),
    recorder: { record: trace(within, "record", recorder.record), asLastSeen: recorder.asLastSeen, dueAt: recorder.dueAt },
    act: trace(within, "act", openActor(context, { ...shared, recorder })),
    watchOpenPulls,
    publisher,
    pastRuns,
    sweep: openBranchSweeper(context, shared.comments),
    tellPeople: openTeller(context, shared.settings),
    circling: openCircling(context),
  });
  return { round, publishPlans, shownPlans, remote, permissions, people, checkRuns, comments, settings, pastRuns };
}

/** What strangers send is judged in a cell, where there is one. */
function openPullsJudge(context: RepoContext, shared: ReturnType<typeof openShared>): JudgePull {
  return context.cell === undefined ? openPullJudge(context, shared) : openJudgeInCell(context, context.cell, shared);
}

/** What more than one of the above needs. */
export function openShared(context: RepoContext, remote = openRemoteHeads(context)) {
  const permissions = openPermissions(context);
  const attention = context.attention ?? openAttention(context, context.repository);
  const comments = openComments(context, attention);
  const commits = openCommits(context.mirror, context.readingCell);
  const forge = { ...openForgeSide(context, remote, permissions), ...openReleaseSide(context, comments) };
  const git = openGitSide(context, commits, remote);
  const { heads, pins, batchCommits, guardBatch } = git;
  const argo = openArgoSide(context, commits);
  const withFacts = openFacts(context, commits, remote, pins);
  const judge = openJudge(context, { ...argo, withFacts });
  return {
    journals: openJournalLooks(context, attention),
    ...{ attention, remote, permissions, comments, commits, withFacts, judge },
    ...forge,
    ...git,
    ...argo,
    ...pastSide(context, git.settings),
    targets: openTargetLooks(context, { ...git, ...argo, commits, remote, judge }),
    observePull: openPullLooks(context, { ...forge, commits, remote, heads, batchCommits }),
    propose: openProposer(context, batchCommits, guardBatch),
    moveBranches: openBranchMover(context, commits, forge.pulls),
    putDeployments: openDeployments(context, permissions, comments),
    publishRollouts: openRolloutComments(context, comments),
    shownWaits: openShownWaits(),
    shownPlans: openShownPlans(context),
  };
}

/** What is kept of GitHub: PRs, checks, rules, people. */
function openForgeSide(context: RepoContext, remote: RemoteHeads, permissions: Permissions) {
  const pulls = openBatchPulls();
  const rules = openRules(context);
  const queue = new MergeQueue(context, rules, pulls, remote);
  const checkRuns = openCheckRuns(context, permissions);
  const gateChecks = openGateChecks(context, checkRuns, permissions);
  const gates = new Gates(context, gateChecks, queue, pulls);
  return {
    pulls,
    rules,
    queue,
    checkRuns,
    gateChecks,
    gates,
    people: new People(context),
    labels: openLabels(context),
    backoff: openBackoff(context),
  };
}

/** What starting runs needs of it. */
function openReleaseSide(context: RepoContext, comments: Comments) {
  const mergedPull = openMergedPulls(context);
  return {
    mergedPull,
    refused: openRefusedReleases(context, mergedPull),
    issues: openTrackingIssues(context, comments),
    makePlan: openPlanner(context),
  };
}

/** How long runs took before. */
function pastSide({ mirror, journal }: RepoContext, settings: Settings) {
  const durationsOf = openDurations(mirror);
  return { durationsOf, pastRuns: openPastRuns(durationsOf, journal, settings) };
}

/** What is kept of the config repo. */
function openGitSide(context: RepoContext, commits: ReturnType<typeof openCommits>, remote: RemoteHeads) {
  const heads = openBranchHeads(context.mirror, remote);
  const guardBatch = openGuard(context, commits);
  const tagsOf = openTags(context.mirror, remote);
  return {
    tagsOf,
    heads,
    guardBatch,
    guardMove: openMoveGuard(context, commits, heads, guardBatch),
    pins: openPins(commits, heads),
    batchCommits: openBatchCommits(context, commits, remote),
    releases: openReleases(commits, tagsOf),
    renderer: openRenderer(context, commits),
    revisionsNow: openRevisions(context),
    settings: openSettings(context, commits),
    editRemarks: openEditRemarks(context, commits),
  };
}

/** What is kept of Argo CD, of analyses and hooks. */
function openArgoSide(context: RepoContext, commits: ReturnType<typeof openCommits>) {
  const rollouts = openRolloutReader(context);
  const troubleOfOwner = openOwners();
  return {
    rollouts,
    actions: openRolloutActions(context, rollouts),
    refresher: openRefresher(context),
    syncer: openSyncer(context),
    reader: openTargetReader(context),
    contents: openContents(context),
    stability: openStability(),
    children: openChildren(troubleOfOwner),
    troubleOfOwner,
    observeJoiners: openJoiners(context, commits),
    analyses: openAnalyses(context, commits),
    hooks: openHooks(context),
  };
}
