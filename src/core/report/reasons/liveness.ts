/** What liveness says: whether a change is live and healthy in an Application. These end with a full stop, since some are two sentences. */
import { count } from "../../base/count.ts";
import type { AnyReason } from "../../base/reason.ts";
import { formatDuration, type Time } from "../../base/time.ts";
import type { LivenessReasons, ParentStep } from "../../reasons/liveness.ts";
import type { CommandName } from "../../spec/commands.ts";
import type { Entries, Subject } from "./entry.ts";
import { addStop, childSet, type Names, pinSince } from "./phrases.ts";
import type { Wording } from "./wording.ts";

const USED_UP = " Argo CD does not try this revision again by itself: push a new commit, or sync it by hand.";
const LEAVE_OUT: readonly CommandName[] = ["requeue", "skip"];
const SKIP: { actions: readonly CommandName[] } = { actions: ["skip"] };
const FAILED: readonly CommandName[] = ["retry", "requeue", "skip", "rollback"];

const PARTS: Record<LivenessReasons["SPEC_DIFFERS"]["part"], string> = {
  destination: "its destination is not yet what the commit gives it",
  project: "its project is not yet what the commit gives it",
  ignoreDifferences: "its ignoreDifferences are not yet as the commit gives them",
  sourceHydrator: "its sourceHydrator is not yet as the commit gives it",
  sources: "its sources are not yet as the commit gives them",
};
const EARLIER: Record<LivenessReasons["EARLIER_READ_DIFFERS"]["by"], string> = {
  uid: "The Application was deleted and made again between two reads",
  resourceVersion: "The two reads came in the wrong order (resourceVersion)",
  absence: "The Application was not there yet when Stagecoach read it before",
};
const IDLE = { unseen: ": is a sync window of its project closed?", open: ", though no sync window is closed." };

/** `10:00:05` in UTC; of another day with the day, `2026-11-20 23:50:00`. */
function clock(time: Time, day: string): string {
  const hour = time.slice(-13, -5);
  return `${time.slice(0, -14) === day ? hour : `${time.slice(0, -14)} ${hour}`} UTC`;
}

/** A time as Kubernetes writes it, `2026-11-21 22:00:00 UTC`; anything else as it stands. */
function readable(time: string): string {
  return time.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/, "$1 $2 UTC");
}

/** Shortens a commit to 7 digits. */
function short(revision: string): string {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(revision) ? revision.slice(0, 7) : revision;
}

const after = (before: string, text: string | undefined, behind = "") => (text === undefined ? "" : `${before}${text}${behind}`);

function begun(because: AnyReason, names: Names): string {
  const text = names.because(because);
  return addStop(text.slice(0, 1).toUpperCase() + text.slice(1));
}

const STEPS: Record<ParentStep, (parent: string, set: string) => string> = {
  compare: (parent, set) => `Application ${parent}, which applies ${set}, has not looked at Git since the merge`,
  apply: (parent, set) => `Application ${parent} has seen the change and is applying ${set}`,
  byHand: (parent, set) =>
    `Application ${parent}, which applies ${set}, is OutOfSync and its auto-sync is off: a person must sync it in Argo CD`,
  generate: (_, set) => `Argo CD's ApplicationSet controller has not generated it from ${set} yet`,
  unseen: (parent, set) => `Application ${parent}, which applies ${set}, cannot be seen from here`,
};
const BY_ITSELF = "Argo CD does so by itself within minutes; its webhook makes that seconds: docs/argocd.md#argo-cds-webhook";

/** Says who is waited for before a spec changes, and what was asked of them. */
function awaitedPhrase({ step, parent = "", set, asked, mute, day }: LivenessReasons["SPEC_AWAITS"], names: Names): string {
  const who = STEPS[step](parent, set === undefined ? "it" : `ApplicationSet ${set}`);
  if (asked === undefined) return mute === true ? `${who}, and Stagecoach has no way to ask for it. ${BY_ITSELF}.` : `${who}.`;
  if (asked.answer === "asked") return `${who}; Stagecoach asked for it at ${clock(asked.at, day)}.`;
  if (asked.answer === "unavailable") return `${who}, and Stagecoach may not ask for it (\`allowRefresh\`). ${BY_ITSELF}.`;
  return `${who}; Stagecoach asked for it at ${clock(asked.at, day)}, and that failed: ${names.because(asked.answer.failed).replace(/\.+$/, "").slice(0, 400)}. ${BY_ITSELF}.`;
}

type Says = { readonly [Code in keyof LivenessReasons]: Wording<{ readonly code: Code } & Readonly<LivenessReasons[Code]>> };

const OBJECTS = {
  shown: ", and its objects show the change",
  untold: ", by its revision: its objects tell nothing of the change",
  unread: ", by its revision: what its objects hold cannot be read",
};

const SAYS: Says = {
  NO_APPLICATION: "Argo CD has no such Application.",
  CHILD_SET_UNTOLD: childSet,
  CHANGE_LIVE: ({ seen, more, health, since, comparedAt, cluster, objects, day }) => {
    const at = seen.length === 0 ? "" : ` at ${seen.map(short).join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
    const held = since === undefined ? "" : ` since ${clock(since, day)}`;
    // What cannot be asked is said once a page, not of each cluster.
    const answered = cluster === undefined || cluster === "unasked" ? "" : `; its cluster answered at ${clock(cluster, day)}`;
    return `Synced and ${health}${at}${held}; Argo CD compared it at ${clock(comparedAt, day)}${objects === undefined ? "" : OBJECTS[objects]}${answered}.`;
  },
  CLUSTERS_UNASKED: ({ all }) =>
    `Stagecoach cannot see when ${all ? "these clusters" : "some of these clusters"} last answered: it may not notice one that goes away after its sync.`,
  CLOCK_AHEAD: ({ because, seconds, broken }, names) =>
    `${begun(because, names)} Its cluster's clock is at least ${formatDuration(seconds * 1000)} ahead of Stagecoach's.${broken ? " That is too far to allow for: set that clock (NTP)." : ""}`,
  APPLICATION_DELETED: ({ since }) => `Somebody deleted the Application at ${readable(since)}, and Argo CD is still removing it.`,
  OWNER_ENDS: ({ name, state }) =>
    `Its ApplicationSet ${name} ${state === "gone" ? "is gone" : "is being deleted"}: nothing brings changes to it any more.`,
  OWNER_SAYS: "{message}",
  OWNER_UNREADABLE: "Stagecoach cannot read it: {because}.",
  APPLICATION_UNREADABLE: "Stagecoach cannot read it: {because}.",
  FIELDS_UNREADABLE: ({ fields }) => fields.join(", "),
  NESTED_TOO_DEEP: "it is nested more than {most} deep",
  UNLISTED_UNASKED: "Argo CD no longer lists it, and Stagecoach has not asked why yet",
  UNLISTED_FORBIDDEN: "Argo CD no longer lets this account read it: {because}",
  UNLISTED_ASKING_FAILED: "Argo CD no longer lists it, and Stagecoach could not ask why: {because}",
  CHANGE_NOT_IN_SPEC: ({ because, owner }, names) => {
    const why = owner === undefined ? "" : `; its ApplicationSet ${owner.name} changes nothing: ${names.because(owner.because)}`;
    return `The change is not in the Application yet: ${addStop(`${names.because(because)}${why}`)}`;
  },
  SPEC_AWAITS: (reason, names) => `${begun(reason.because, names)} ${awaitedPhrase(reason, names)}`,
  SPEC_UNRENDERED: "Stagecoach cannot work out what its spec should be at the commit, so it cannot compare the two",
  SPEC_DIFFERS: ({ part }) => PARTS[part],
  SOURCES_COUNT_DIFFERS: ({ has, wanted }) => `it has ${count(has, "source")}, and the commit gives it ${wanted}`,
  REVISION_NOT_IN_SPEC: ({ dry, asks, wanted }) =>
    `its ${dry === true ? "dry source" : "spec"} asks for ${short(asks)}, not yet for ${short(wanted)}`,
  STATUS_STALE: ({ because, skipped, refreshAsked }, names) => {
    const skips = skipped === true ? "; its annotation argocd.argoproj.io/skip-reconcile keeps Argo CD from looking" : "";
    return `Argo CD's status is out of date: ${names.because(because)}${skips}${refreshAsked === true ? "; Stagecoach has asked for a refresh" : ""}.`;
  },
  NEVER_COMPARED: "Argo CD has not compared this Application yet",
  COMPARED_TO_OLDER_SPEC: ({ at, day }) =>
    `Argo CD last compared an older spec of it (status.sync.comparedTo)${at === undefined ? "" : `, at ${clock(at, day)}`}`,
  NEVER_RECONCILED: "Argo CD has never reconciled it",
  COMPARED_BEFORE_MERGE: ({ at, mergedAt, behindSeconds, day }) => {
    const behind =
      behindSeconds === undefined ? "" : `; Argo CD has seen the merge, so its clock may be ${formatDuration(behindSeconds * 1000)} behind`;
    return `Argo CD last compared it at ${clock(at, day)}, and the change was merged at ${clock(mergedAt, day)}${behind}`;
  },
  REFERENCE_COMPARED_ONCE: ({ at, day }) =>
    `Argo CD has compared it once since it saw the change, at ${clock(at, day)}: files that a source reads by $ref count from the next comparison on.`,
  COMPARED_BEFORE_END: ({ at, endedAt, day }) =>
    `its sync ended at ${clock(endedAt, day)}, and Argo CD has not compared it since (last at ${clock(at, day)})`,
  CHANGE_NOT_SEEN: ({ because }, names) => begun(because, names),
  NO_SUCH_SOURCE: "none of its sources is {repo}, so the commit can never show in it",
  NO_REVISION_SHOWN: "Argo CD shows no revision for the source",
  NAME_SHOWN: 'Argo CD shows the name "{seen}", and not yet which commit that is',
  COMMIT_NOT_SEEN: ({ seen, commit }) => `Argo CD has seen ${short(seen)}, which does not contain ${short(commit)}`,
  COMMIT_UNDECIDED: ({ seen, commit }) => `Argo CD has seen ${short(seen)}; whether it contains ${short(commit)} is not known yet`,
  PIN_CHANGED_SINCE: ({ seen, commit, by, override }) => pinSince(short(seen), short(commit), short(by), override),
  OTHER_REVISION_SEEN: ({ seen, wanted, shortened }) => {
    const hint = ", which looks like a shortened commit id: pin the full id, or a name that does not look like one";
    return `Argo CD has seen ${short(seen) || "no revision"}, not ${short(wanted)}${shortened === true ? hint : ""}`;
  },
  CHANGE_NOT_RENDERED:
    "Its annotation manifest-generate-paths ({paths}) leaves out {changed}, so Argo CD did not render the change: the old version still runs, whatever Argo CD shows. Set the annotation to {right}, then `/requeue` the <cluster>: Argo CD does not come back to what it passed over.",
  DRY_SOURCE_DIFFERS: "its dry source is {repo}, not {wanted}",
  HYDRATED_NOT_COMPARED: ({ hydrated = "nothing", compared }) =>
    `the change is hydrated as ${short(hydrated)}, and Argo CD has compared ${short(compared) || "no revision"}`,
  HYDRATION_FAILED: ({ message }) => `hydration failed: ${message ?? "no message"}`,
  HYDRATED_FROM_OLDER: ({ dry, wanted }) =>
    `the hydrated files say that they were made from ${short(dry)}, which does not contain ${short(wanted)}`,
  HYDRATION_UNDECIDED: ({ seen }) => `Stagecoach does not know yet what ${short(seen)} was hydrated from`,
  HYDRATION_SHARED:
    'Argo CD says that it is hydrated, but may mean "{other}", which is hydrated to the same branch: give each a branch of its own',
  HYDRATED_BY_OLDER: "Argo CD hydrated it by an older sourceHydrator than its spec has now",
  NOT_HYDRATED: ({ wanted, now }) => {
    if (wanted === undefined) return "Argo CD has not hydrated it by the sourceHydrator of its spec yet";
    if (now === undefined) return `Argo CD has not hydrated ${short(wanted)} yet`;
    return `Argo CD hydrates ${short(now)}; ${short(wanted)} is not hydrated yet`;
  },
  FAILING_UNCONFIRMED: ({ because }, names) => `${begun(because, names)} It counts as failed once Argo CD compares again and says so.`,
  SYNC_LOCAL: "Somebody synced it from local files (argocd app sync --local), and Argo CD compares it with those: sync it from Git.",
  SYNC_NOT_BEGUN: "Somebody or Argo CD asked for a sync, which has not begun yet.",
  SYNC_AWAITS_WINDOW: ({ message = "", opensAt }) =>
    `Its sync waits for a sync window to open: ${message}${after("; it opens at ", opensAt && readable(opensAt))}.`,
  OPERATION_GOES_ON: ({ phase, since, day }) => `Its operation is ${phase}${since === undefined ? "" : `, since ${clock(since, day)}`}.`,
  SYNC_RETRIES: ({ failedAt, retry, of, at, overdue, message, day }) => {
    const said = after(": ", message);
    const which = `retry ${retry}${of === undefined ? "" : ` of ${of}`}`;
    if (!overdue) return `Its sync failed at ${clock(failedAt, day)} and waits for ${which}, at about ${clock(at, day)}${said}.`;
    return `Its sync failed at ${clock(failedAt, day)} and ${which} was due at about ${clock(at, day)}, and nothing has begun${said}. Does Argo CD's application controller run?`;
  },
  SYNC_FAILED: ({ phase, message, spent }) => `Its sync ended ${phase}: ${message ?? "no message"}.${spent ? USED_UP : ""}`,

  CLUSTER_UNREACHABLE: ({ name, triedAt, againAt, message, day }) => {
    const tried = triedAt === undefined ? "" : ` (tried at ${clock(triedAt, day)})`;
    const again = againAt === undefined ? "" : ` It tries again at ${clock(againAt, day)}.`;
    return `Argo CD ${againAt === undefined ? "cannot" : "did not"} reach cluster ${name}${tried}${after(": ", message)}.${again}`;
  },
  CLUSTER_UNREACHED: ({ message = "" }) => `Argo CD could not reach its cluster when it last compared: ${message}.`,
  CHILD_NOT_LIVE: ({ child, because }, names) => `Its Application ${child} does not count as healthy: ${addStop(names.because(because))}`,
  SYNC_STATUS: ({ status = "not known" }) => `Its sync status is ${status}.`,
  SYNC_BY_HAND: "It is OutOfSync and auto-sync is off: a person who may sync it must press Sync in Argo CD.",
  OUT_OF_SYNC: ({ idle }) => `It is OutOfSync${idle === undefined ? "." : `, and nothing syncs it${IDLE[idle]}`}`,
  SYNC_WINDOW_CLOSED: ({ opensAt, manual }) => {
    const when = opensAt === undefined ? "nobody can tell when it opens next" : `it opens at ${readable(opensAt)}`;
    return `It is OutOfSync and waits for a sync window: ${when}${manual ? "; a sync by hand is allowed meanwhile" : ""}.`;
  },
  CONDITION_BAD: ({ type, message, spent }) => `${type}: ${message ?? "no message"}.${spent ? USED_UP : ""}`,
  HEALTH: ({ status = "not known", message }) => `Its health is ${status}${after(" (", message, ")")}.`,
  DEGRADED_BEFORE: ({ message }) => `It is Degraded${after(" (", message, ")")}, but that status does not show the change yet.`,
  DEGRADED: ({ since, seenAt, message, day }) => {
    const when = since === undefined ? `, seen with the change at ${clock(seenAt, day)}` : ` since ${clock(since, day)}`;
    return `It ${since === undefined ? "is" : "has been"} Degraded${when}${after(" (", message, ")")}.`;
  },
  SUSPENDED: ({ message }) =>
    `Its health is Suspended${after(" (", message, ")")}: something in it is paused, such as a Rollout at a canary step.`,

  IMAGE_NOT_SHOWN: ({ wanted, shown }) => `It is Healthy, but none of its pods runs ${wanted}: they run ${shown.join(", ")}.`,

  CONTENT_ASKED: "Stagecoach is asking Argo CD what its objects hold.",
  CONTENT_UNREAD: ({ because, required }, names) =>
    `Stagecoach cannot read what its objects hold: ${addStop(names.because(because))} ${required ? "With `proof: content` it does not count as healthy before that" : "If that stays so, it counts by its revision"}.`,
  CONTENT_UNTOLD:
    "Its objects do not show whether the change has arrived, and with `proof: content` it does not count as healthy before they do: pin a value that shows in them, such as a tag, or set `proof: revision`.",
  CONTENT_NOT_LIVE: "Argo CD calls it Synced, but what its cluster holds is not what the pins say.",
  CONTENT_UNCHANGED:
    "The change altered nothing in its objects: the new revision renders to exactly what the one before it does. Is the pin used, and does manifest-generate-paths cover its file?",

  SETTLING: ({ since, until, day }) =>
    `Synced and Healthy since ${clock(since, day)}; it counts as healthy if that still holds at ${clock(until, day)}.`,
  READ_AWAITED: ({ at, day }) =>
    `Argo CD last reported it healthy. It counts once Stagecoach has read it from Argo CD by name, at ${clock(at, day)} or later.`,
  READ_FAILED: ({ because, problem }, names) => `${begun(because, names)} That read failed: ${names.because(problem)}`,
  EARLIER_READ_DIFFERS: ({ by }) => `${EARLIER[by]}: Stagecoach reads it once more.`,
  EARLIER_READ_UNMET: 'It was not healthy yet when Stagecoach read it before (clause "{clause}"): Stagecoach reads it once more.',
};

/** What is not about the Application itself, and what a person may answer with a command. */
const APART: { readonly [Code in keyof LivenessReasons]?: { subject?: Subject; actions?: readonly CommandName[] } } = {
  ...{ NO_APPLICATION: SKIP, CHILD_SET_UNTOLD: SKIP, APPLICATION_DELETED: SKIP, NO_SUCH_SOURCE: SKIP },
  CLUSTERS_UNASKED: { subject: "cluster" },
  CLOCK_AHEAD: { subject: "cluster" },
  OWNER_ENDS: { subject: "resource", actions: ["skip"] },
  OWNER_SAYS: { subject: "resource" },
  OWNER_UNREADABLE: { subject: "resource" },
  PIN_CHANGED_SINCE: { actions: ["resume", "skip", "abort"] },
  CHANGE_NOT_RENDERED: { actions: ["requeue", "rollback"] },
  HYDRATION_FAILED: { actions: FAILED },
  SYNC_AWAITS_WINDOW: { subject: "window", actions: LEAVE_OUT },
  SYNC_FAILED: { actions: FAILED },
  CLUSTER_UNREACHABLE: { subject: "cluster", actions: LEAVE_OUT },
  CLUSTER_UNREACHED: { subject: "cluster", actions: LEAVE_OUT },
  HYDRATION_SHARED: { actions: LEAVE_OUT },
  SYNC_LOCAL: { actions: LEAVE_OUT },
  SYNC_BY_HAND: { actions: LEAVE_OUT },
  SYNC_WINDOW_CLOSED: { subject: "window", actions: LEAVE_OUT },
  CONDITION_BAD: { actions: FAILED },
  DEGRADED: { actions: FAILED },
  SUSPENDED: { subject: "resource", actions: LEAVE_OUT },
  CONTENT_UNREAD: { subject: "controlPlane", actions: LEAVE_OUT },
  CONTENT_UNTOLD: { actions: LEAVE_OUT },
  CONTENT_NOT_LIVE: { actions: LEAVE_OUT },
  CONTENT_UNCHANGED: { actions: FAILED.slice(1) },
  READ_FAILED: { subject: "controlPlane" },
};

export const LIVENESS = Object.fromEntries(
  Object.entries(SAYS).map(([code, says]) => [code, { subject: "application", ...APART[code as keyof LivenessReasons], says }]),
) as unknown as Entries<LivenessReasons>;
