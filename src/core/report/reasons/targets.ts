import { count } from "../../base/count.ts";
import type { PinRef, TargetReasons } from "../../reasons/targets.ts";
import { type Entries, entriesOf } from "./entry.ts";
import { addStop, clock, issuePhrase, pinPhrase } from "./phrases.ts";

const WEBHOOK = "With its webhook Argo CD hears of pushes at once: docs/argocd.md#argo-cds-webhook";

/** On one line, without a full stop, at most 400 characters. */
function inShort(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/(?<!\.)\.+$/, "")
    .slice(0, 400);
}

function placePhrase({ branch, file }: PinRef): string {
  return branch === undefined ? (file ?? "its file") : `branch ${branch}`;
}

/**
 * Bots that write versions, by the name they commit under, or, under somebody else's, by what they call a commit or its branch (their defaults),
 * and what keeps each from this pin.
 */
const BOTS: readonly [author: RegExp, subject: RegExp, ask: string][] = [
  [/^renovate/i, /\/renovate\/|^(?:chore|fix)\(deps\): update /, "add that file to Renovate's ignorePaths"],
  [/^argocd-image-updater/i, /^build: automatic update of /, "take the image out of Argo CD Image Updater"],
  [/^kargo/i, /\bkargo\/promotion\//, "remove that step of Kargo's Stage"],
];

/** Why a target is where it is, and what was seen of it. */
export const TARGETS: Entries<TargetReasons> = entriesOf<TargetReasons>()({
  TARGET_LEFT: { subject: "application", says: "{cluster} left the rollout: {application} and its pin are gone" },
  TARGET_GONE: { subject: "application", says: "it left the rollout: its Application and pin are gone" },
  READ_BEFORE_MERGE: { subject: "application", says: "{because} (read before the merge; Stagecoach reads it again)" },
  CONTROL_PLANE_UNSEEN: {
    subject: "controlPlane",
    says: ({ plane, since, because }, names) =>
      `Stagecoach has not been able to read control plane ${plane} since ${since.slice(0, 10)} ${clock(since)}: ${names.because(because)}`,
    means: "Stagecoach cannot read this Argo CD. Nothing is concluded about its Applications, and their clusters wait",
    todo: "put the connection right; what follows the colon says what Argo CD or the network answered. The run goes on by itself",
  },
  NOT_READ_SINCE_MERGE: { subject: "application", says: "the change is merged; Stagecoach has not read Argo CD since" },
  ARGOCD_UNREADABLE: { subject: "controlPlane", says: "Stagecoach cannot read Argo CD" },
  CONFIRMED_THEN_UNSEEN: { subject: "application", says: "healthy when last read; {because}" },
  TARGET_CONFIRMED: { subject: "application", says: "{cluster} is healthy: Argo CD shows {application} at this change" },
  NO_WORSE_THAN_BASELINE: {
    subject: "application",
    says: ({ baseline, because }, names) =>
      `it is no worse than before its batch (${baseline.map(issuePhrase).join(", ")}): ${names.because(because)}`,
  },
  TARGET_FAILED: {
    subject: "application",
    actions: ["retry", "requeue", "skip", "rollback"],
    says: ({ cluster, baseline, because }, names) =>
      `${names.cluster(cluster)} failed${baseline ? ", as before its batch" : ""}: ${names.because(because)}`,
  },
  DEADLINE_PASSED: {
    subject: "application",
    actions: ["retry", "requeue", "skip", "rollback"],
    says: ({ seen, because }, names) =>
      seen
        ? `not healthy within its deadline: ${names.because(because)}`
        : `Argo CD has not shown the change within its deadline: ${addStop(names.because(because))} ${WEBHOOK}.`,
    means: "Argo CD did not show the change healthy within `seenDeadline` or `progressDeadline`",
    todo: "look at the Application in Argo CD. `/retry` looks again, `/requeue CLUSTER` tries it later, `/skip CLUSTER` leaves it out, `/rollback` puts the old values back",
  },
  UNHEALTHY_WHILE_BAKING: { subject: "application", says: "{cluster} became unhealthy during its bake: {because}" },
  BAKE_RESTARTED_OFTEN: {
    subject: "application",
    actions: ["retry", "requeue", "skip", "rollback"],
    says: "it became unhealthy again during its bake, which began anew {times} times: {because}",
  },
  FAILED_AFTERWARDS: { subject: "application", says: "it had been healthy before: {because}" },
  UNWELL_AFTERWARDS: {
    subject: "application",
    says: ({ lost, until, because }, names) =>
      `it is ${lost ? "gone" : "not healthy any more"}, and counts as failed at ${clock(until)} unless that changes: ${names.because(because)}`,
  },
  FLAP_IGNORED: {
    subject: "application",
    says: ({ until, because }, names) =>
      `it is not healthy at the moment, which is tolerated until ${clock(until)}: ${names.because(because)}`,
  },
  REFRESH_WANTED: {
    subject: "application",
    says: ({ because, at, answer, seen }, names) => {
      const hint = seen ? "" : ` ${WEBHOOK}.`;
      const why = addStop(names.because(because));
      if (answer === "asked") return `${why} Stagecoach asked Argo CD to compare again at ${clock(at)}.`;
      if (answer === "unavailable") return `${why} Stagecoach may not ask Argo CD to compare again (\`allowRefresh\`).${hint}`;
      return `${why} Stagecoach asked Argo CD at ${clock(at)} to compare again, and that failed: ${inShort(names.because(answer.failed))}.${hint}`;
    },
  },

  TARGET_SYNC_ASKED: { subject: "application", says: "Argo CD is asked to sync {application} on {cluster}" },
  SYNC_ASKED: {
    subject: "application",
    actions: ["skip"],
    says: ({ at }) => `Stagecoach asks Argo CD since ${clock(at)} to sync it to this batch's revision, and to nothing else.`,
  },
  SYNC_NOT_ASKED: {
    subject: "application",
    actions: ["requeue", "skip"],
    says: "A person must sync it in Argo CD: Stagecoach does not, for {because}.",
  },
  SYNC_HELD: {
    subject: "application",
    actions: ["resume", "skip"],
    says: "It is OutOfSync and auto-sync is off. Stagecoach asks for no sync while the run is paused or the cluster halted.",
  },

  TARGETS_UNREAD: { subject: "application", says: "Stagecoach could not read the state of {clusters}" },
  COMMIT_NOT_IN_HISTORY: {
    subject: "repository",
    actions: ["resume", "abort"],
    says: "the commit {commit} that changed {cluster} is no longer in the history of the base branch",
    means: "the base branch was rewritten, and a commit of this run is not in it any more",
    todo: "put the history back, then `/resume`; or `/abort` ends the run",
  },
  ASK_RESTORE_HISTORY: { subject: "run", actions: ["resume", "abort"], says: "put the history back, then `/resume`; or `/abort`" },
  REVISION_MOVED: {
    subject: "repository",
    actions: ["resume", "rollback", "abort"],
    says: ({ revision, repo, from, to, first, cluster }, names) => {
      const now = to === undefined ? "is gone" : `is ${to.slice(0, 10)}${cluster === undefined ? "" : ` in ${names.cluster(cluster)}`}`;
      const where = first === undefined ? "when this run began" : `in ${names.cluster(first)}, the first to show it`;
      return `${revision} of ${repo} was moved: it was ${from.slice(0, 10)} ${where}, and ${now} now`;
    },
    means:
      "the tag (or branch) that the release names stands for another commit than when the run began; clusters may run what nobody released",
    todo: "put it back where it was, then `/resume`; or `/rollback`; or `/abort`, and release the other commit under a name of its own",
  },
  ASK_REVISION_BACK: {
    subject: "run",
    actions: ["resume", "rollback", "abort"],
    says: "put the revision back, then `/resume`; or `/rollback`; or `/abort`, and release the other commit under a name of its own",
  },
  REVISIONS_UNREAD: { subject: "repository", says: "Stagecoach cannot read from Git right now which commit the release is" },
  REVISION_UNREAD: { subject: "repository", says: "{repo} does not say right now which commit {revision} is" },
  TARGET_LOST: { subject: "application", says: "Stagecoach lost sight of {cluster}: {because}" },
  PIN_LEAVING: { subject: "cluster", says: "the pin of {cluster} is gone, and Stagecoach waits to see whether its Application goes too" },
  PIN_DRIFT: {
    subject: "file",
    actions: ["resume", "skip", "abort"],
    says: ({ cluster, place, by, found, want }, names) => {
      const who = by === undefined ? "" : ` by ${by.author} in ${by.commit.slice(0, 10)} (${by.subject})`;
      const ask = by === undefined ? undefined : BOTS.find(([name, calls]) => name.test(by.author) || calls.test(by.subject))?.[2];
      const off = ask === undefined ? "" : `; ${ask}, else it does so again`;
      return `the pin of ${names.cluster(cluster)} in ${placePhrase(place)} was changed${who}: it is ${pinPhrase(found ?? "gone")}, this run set ${pinPhrase(want)}${off}`;
    },
    means: "somebody changed a value that this run has set, while the run goes on",
    todo: "put the run's value back, then `/resume`; or leave the cluster out with `/skip CLUSTER`; or end the run with `/abort`",
  },
  ASK_UNDO_DRIFT: {
    subject: "run",
    actions: ["resume", "skip", "abort"],
    says: ({ want, cluster }, names) =>
      `put ${pinPhrase(want)} back, then \`/resume\`; or \`/skip ${names.cluster(cluster)}\`; or \`/abort\``,
  },
  OTHER_CHANGE_SEEN: {
    subject: "application",
    actions: ["resume", "abort"],
    says: "Argo CD has seen commit {commit}, which changed what {cluster} gets: {because}",
  },
  ASK_AWAIT_SEEN: {
    subject: "run",
    actions: ["resume", "abort"],
    says: "the base branch has this run's value again: `/resume` once Argo CD has seen that; or `/abort`",
  },

  JOINED_RUN: { subject: "cluster", says: "a last catch-up batch takes {clusters}, which joined during the run" },
  CLUSTERS_APPEARED: {
    subject: "cluster",
    actions: ["resume", "skip"],
    says: ({ clusters }, names) =>
      `${count(clusters.length, "<cluster>")} appeared during the run: ${names.clusters(clusters)} (\`joiners: Hold\` pauses for them)`,
  },
  ASK_JOIN: {
    subject: "run",
    actions: ["resume", "skip"],
    says: ({ clusters }, names) => {
      const named = clusters.slice(0, 5).map((cluster) => names.cluster(cluster));
      return `\`/resume\` takes them in a last catch-up batch; \`/skip ${named.join(" ")}\` before it leaves them out`;
    },
  },
  NOT_JOINED: {
    subject: "cluster",
    says: ({ cluster, because }, names) => `${cluster.slice(cluster.indexOf("/") + 1)}: ${names.because(because)}`,
  },
  JOINER_ON_KNOWN_CLUSTER: {
    subject: "cluster",
    says: ({ applications }) => `${applications.join(", ")} appeared on <a cluster> that this run has already: the next release takes it`,
  },
  JOINER_UNSTAGED: { subject: "cluster", says: "it appeared during the run, and no stage takes it" },
  JOINER_SHARES_PIN: {
    subject: "cluster",
    says: "it appeared during the run, and shares its pin with {cluster}: it changes when that does",
  },
  JOINER_IGNORED: { subject: "cluster", says: "it appeared during the run, which leaves it out (`joiners: Ignore`)" },
});
