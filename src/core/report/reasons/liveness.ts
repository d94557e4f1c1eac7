/** What liveness says: whether a change is live and healthy in an Application. These end with a full stop, since some are two sentences. */
import type { AnyReason } from "../../base/reason.ts";
import type { Time } from "../../base/time.ts";
import type { LivenessReasons, ParentStep } from "../../reasons/liveness.ts";
import type { CommandName } from "../../spec/commands.ts";
import type { Entries, Subject } from "./entry.ts";
import type { Names } from "./phrases.ts";
import type { Wording } from "./wording.ts";

const USED_UP = " Argo CD does not try this revision again by itself: it wants a new commit, or a sync by hand.";
const LEAVE_OUT: readonly CommandName[] = ["requeue", "skip"];
const FAILED: readonly CommandName[] = ["retry", "requeue", "skip", "rollback"];

const PARTS: Record<LivenessReasons["SPEC_DIFFERS"]["part"], string> = {
  destination: "its destination is not the intended one",
  project: "its project is not the intended one",
  ignoreDifferences: "its ignoreDifferences are not yet as the commit gives them",
  sourceHydrator: "its sourceHydrator is not yet as the commit gives it",
  sources: "its sources are not yet as the commit gives them",
};
const EARLIER: Record<LivenessReasons["EARLIER_READ_DIFFERS"]["by"], string> = {
  uid: "is of another object (uid)",
  resourceVersion: "is not of an older resourceVersion",
  absence: "has no such Application",
};
const IDLE = { unseen: ": is a sync window of its project closed?", open: ", though no sync window is closed." };

/** `10:00:05` in UTC; of another day with the day, `2026-11-20 23:50:00`. */
function clock(time: Time, day: string): string {
  const hour = time.slice(-13, -5);
  return `${time.slice(0, -14) === day ? hour : `${time.slice(0, -14)} ${hour}`} UTC`;
}

/** Shortens a commit to 7 digits. */
function short(revision: string): string {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(revision) ? revision.slice(0, 7) : revision;
}

function after(before: string, text: string | undefined, behind = ""): string {
  return text === undefined ? "" : `${before}${text}${behind}`;
}

function begun(because: AnyReason, names: Names): string {
  const text = names.because(because);
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

const STEPS: Record<ParentStep, (parent: string, set: string) => string> = {
  compare: (parent, set) => `Application ${parent}, which applies ${set}, has not looked at Git since the merge`,
  apply: (parent, set) => `Application ${parent} has seen the change and is applying ${set}`,
  byHand: (parent, set) =>
    `Application ${parent}, which applies ${set}, is OutOfSync and its auto-sync is off: a person must sync it in Argo CD`,
  generate: (_, set) => `Argo CD's ApplicationSet controller is to bring it from ${set}`,
  unseen: (parent, set) => `Application ${parent}, which applies ${set}, cannot be seen from here`,
};
const BY_ITSELF = "Argo CD does so by itself within minutes; its webhook makes that seconds: docs/argocd.md#argo-cds-webhook";

/** Says who is waited for before a spec changes, and what was asked of them. */
function awaitedPhrase({ step, parent = "", set, asked, mute, day }: LivenessReasons["SPEC_AWAITS"], names: Names): string {
  const who = STEPS[step](parent, set === undefined ? "it" : `ApplicationSet ${set}`);
  if (asked === undefined) return mute === true ? `${who}, and cannot be asked to from here. ${BY_ITSELF}.` : `${who}.`;
  if (asked.answer === "asked") return `${who}; it was asked to at ${clock(asked.at, day)}.`;
  if (asked.answer === "unavailable") return `${who}, and cannot be asked to from here (\`allowRefresh\`). ${BY_ITSELF}.`;
  return `${who}; asking it to at ${clock(asked.at, day)} failed: ${names.because(asked.answer.failed).replace(/\.+$/, "").slice(0, 400)}. ${BY_ITSELF}.`;
}

type Says = { readonly [Code in keyof LivenessReasons]: Wording<{ readonly code: Code } & Readonly<LivenessReasons[Code]>> };

const OBJECTS = {
  shown: ", and its objects show the change",
  untold: ", by its revision: its objects tell nothing of the change",
  unread: ", by its revision: what its objects hold cannot be read",
};

const SAYS: Says = {
  NO_APPLICATION: "There is no such Application.",
  CHANGE_LIVE: ({ seen, more, health, since, comparedAt, cluster, objects, day }) => {
    const at = seen.length === 0 ? "" : ` at ${seen.map(short).join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
    const healthy = `${health}${since === undefined ? "" : ` since ${clock(since, day)}`}`;
    // What cannot be asked is said once a page, not of each cluster.
    const answered = cluster === undefined || cluster === "unasked" ? "" : `; its cluster answered at ${clock(cluster, day)}`;
    return `Live${at}, Synced and ${healthy}; compared at ${clock(comparedAt, day)}${objects === undefined ? "" : OBJECTS[objects]}${answered}.`;
  },
  CLUSTERS_UNASKED: ({ all }) =>
    `${all ? "No cluster here" : "Not every cluster here"} can be asked whether it answers just now: one that goes away after its sync is not seen (docs/liveness.md#limits).`,
  CLOCK_AHEAD: ({ because, seconds, broken }, names) =>
    `${names.because(because)} The cluster's clock is at least ${seconds}s ahead of ours.${broken ? " That is more than is made up for: set it." : ""}`,

  APPLICATION_DELETED: "The Application is being deleted since {since}.",
  OWNER_ENDS: ({ name, state }) =>
    `Its ApplicationSet ${name} ${state === "gone" ? "is gone" : "is being deleted"}: nothing brings changes to it any more.`,
  OWNER_SAYS: "{message}",
  OWNER_UNREADABLE: "it cannot be read: {because}",

  APPLICATION_UNREADABLE: "It cannot be read: {because}.",
  FIELDS_UNREADABLE: ({ fields }) => fields.join(", "),
  NESTED_TOO_DEEP: "it is nested more than {most} deep",
  UNLISTED_UNASKED: "it is not in Argo CD's list any more, and why was not asked yet",
  UNLISTED_FORBIDDEN: "Argo CD does not let this account get it any more: {because}",
  UNLISTED_ASKING_FAILED: "it is not in Argo CD's list any more, and asking why failed: {because}",

  CHANGE_NOT_IN_SPEC: ({ because, owner }, names) => {
    const why = owner === undefined ? "" : `; its ApplicationSet ${owner.name} changes nothing: ${names.because(owner.because)}`;
    return `The change is not in the Application yet: ${names.because(because)}${why}.`;
  },
  SPEC_AWAITS: (reason, names) => `${names.because(reason.because)} ${awaitedPhrase(reason, names)}`,
  SPEC_UNRENDERED: "what its spec should be at the commit is not known, so it cannot be compared",
  SPEC_DIFFERS: ({ part }) => PARTS[part],
  SOURCES_COUNT_DIFFERS: "it has {has} source(s), the commit gives it {wanted}",
  REVISION_NOT_IN_SPEC: ({ dry, asks, wanted }) =>
    `its ${dry === true ? "dry source" : "spec"} asks for ${short(asks)}, not yet for ${short(wanted)}`,

  STATUS_STALE: ({ because, skipped, refreshAsked }, names) => {
    const skips = skipped === true ? "; its annotation argocd.argoproj.io/skip-reconcile keeps Argo CD from looking" : "";
    return `Stale: ${names.because(because)}${skips}${refreshAsked === true ? "; a refresh is asked for" : ""}.`;
  },
  NEVER_COMPARED: "Argo CD has not compared this Application yet",
  COMPARED_TO_OLDER_SPEC: ({ at, day }) =>
    `Argo CD's status is about an older spec (comparedTo is not the spec)${at === undefined ? "" : `, compared at ${clock(at, day)}`}`,
  NEVER_RECONCILED: "Argo CD has never reconciled it",
  COMPARED_BEFORE_MERGE: ({ at, mergedAt, behindSeconds, day }) => {
    const behind = behindSeconds === undefined ? "" : `; it has seen the merge, so its clock may be ${behindSeconds}s behind`;
    return `Argo CD last compared at ${clock(at, day)}, the change was merged at ${clock(mergedAt, day)}${behind}`;
  },
  REFERENCE_COMPARED_ONCE: ({ at, day }) =>
    `Argo CD has compared once, at ${clock(at, day)}, since it has seen the change: the files that a source reads by $ref count from the comparison after it.`,
  COMPARED_BEFORE_END: ({ at, endedAt, day }) =>
    `its operation ended at ${clock(endedAt, day)}, Argo CD last compared at ${clock(at, day)}, not later`,

  CHANGE_NOT_SEEN: ({ because }, names) => `${begun(because, names)}.`,
  NO_SUCH_SOURCE: "none of its sources is {repo}, so the commit can never show in it",
  NO_REVISION_SHOWN: "Argo CD shows no revision for the source",
  NAME_SHOWN: 'Argo CD shows "{seen}", a name and not yet a revision',
  COMMIT_NOT_SEEN: ({ seen, commit }) => `Argo CD has seen ${short(seen)}, which does not contain ${short(commit)}`,
  COMMIT_UNDECIDED: ({ seen, commit }) => `Argo CD has seen ${short(seen)}; whether it contains ${short(commit)} is not known yet`,
  PIN_CHANGED_SINCE: ({ seen, commit, by }) =>
    `Argo CD has seen ${short(seen)}, in which ${short(by)} has changed the pin after ${short(commit)}; a person must say which of the two holds`,
  OTHER_REVISION_SEEN: ({ seen, wanted, shortened }) => {
    const hint = ", which looks like a shortened commit id (where it is a name, pin one that does not, or the full id)";
    return `Argo CD has seen ${short(seen) || "no revision"}, not ${short(wanted)}${shortened === true ? hint : ""}`;
  },
  CHANGE_NOT_RENDERED:
    "Its annotation manifest-generate-paths ({paths}) leaves out {changed}, so Argo CD renders nothing anew: whatever it shows, the old version runs. Let it be {right}, then /requeue the cluster, for what was passed over stays so.",
  DRY_SOURCE_DIFFERS: "its dry source is {repo}, not {wanted}",
  HYDRATED_NOT_COMPARED: ({ hydrated = "nothing", compared }) =>
    `the change is hydrated as ${short(hydrated)}, Argo CD has compared ${short(compared) || "no revision"}`,
  HYDRATION_FAILED: ({ message }) => `hydration failed: ${message ?? "no message"}`,
  HYDRATED_FROM_OLDER: ({ dry, wanted }) =>
    `the files that are synced were made from ${short(dry)} by what stands beside them, which does not contain ${short(wanted)}`,
  HYDRATION_UNDECIDED: ({ seen }) => `what ${short(seen)} was hydrated from is not known yet`,
  HYDRATION_SHARED:
    'Argo CD says that it is hydrated, and may mean "{other}", which is hydrated to the same branch: give each a branch of its own',
  HYDRATED_BY_OLDER: "Argo CD has hydrated by an older sourceHydrator than the spec has now",
  NOT_HYDRATED: ({ wanted, now }) => {
    if (wanted === undefined) return "Argo CD has not hydrated by the sourceHydrator of the spec yet";
    if (now === undefined) return `Argo CD has not hydrated ${short(wanted)} yet`;
    return `Argo CD hydrates ${short(now)}; ${short(wanted)} is not hydrated yet`;
  },

  FAILING_UNCONFIRMED: "{because} One comparison says so: it has failed once a second one does.",

  SYNC_LOCAL: "Somebody synced it from files of their own (argocd app sync --local), and Argo CD compares with these: sync it from Git.",
  SYNC_NOT_BEGUN: "A sync is asked for and has not begun.",
  SYNC_AWAITS_WINDOW: ({ message = "", opensAt }) =>
    `Its sync waits for a sync window to open: ${message}${after("; it opens at ", opensAt)}.`,
  OPERATION_GOES_ON: ({ phase, since, day }) => `Its operation is ${phase}${since === undefined ? "" : ` since ${clock(since, day)}`}.`,
  SYNC_RETRIES: ({ failedAt, retry, of, at, overdue, message, day }) => {
    const said = after(": ", message);
    const which = `retry ${retry}${of === undefined ? "" : ` of ${of}`}`;
    if (!overdue) return `Its sync failed at ${clock(failedAt, day)} and waits for ${which}, at about ${clock(at, day)}${said}.`;
    return `Its sync failed at ${clock(failedAt, day)} and ${which} was due at about ${clock(at, day)}, and nothing has begun${said}. Does Argo CD's application controller run?`;
  },
  SYNC_FAILED: ({ phase, message, spent }) => `Its sync ended ${phase}: ${message ?? "no message"}.${spent ? USED_UP : ""}`,

  CLUSTER_UNREACHABLE: ({ name, triedAt, againAt, message, day }) => {
    const tried = triedAt === undefined ? "" : ` (tried at ${clock(triedAt, day)})`;
    const again = againAt === undefined ? "" : ` It is asked again at ${clock(againAt, day)}.`;
    return `Argo CD ${againAt === undefined ? "cannot" : "did not"} reach cluster ${name}${tried}${after(": ", message)}.${again}`;
  },
  CLUSTER_UNREACHED: ({ message = "" }) => `Argo CD cannot reach its cluster, by its last comparison: ${message}.`,
  SYNC_STATUS: ({ status = "not known" }) => `Its sync status is ${status}.`,
  SYNC_BY_HAND: "It is OutOfSync and auto-sync is off: a person must sync it in Argo CD.",
  OUT_OF_SYNC: ({ idle }) => `It is OutOfSync${idle === undefined ? "." : `, and nothing syncs it${IDLE[idle]}`}`,
  SYNC_WINDOW_CLOSED: ({ opensAt, manual }) => {
    const when = opensAt === undefined ? "when it opens next cannot be told" : `it opens at ${opensAt}`;
    return `It is OutOfSync and waits for a sync window: ${when}${manual ? "; a sync by hand is allowed meanwhile" : ""}.`;
  },
  CONDITION_BAD: ({ type, message, spent }) => `${type}: ${message ?? "no message"}.${spent ? USED_UP : ""}`,
  HEALTH: ({ status = "not known", message }) => `Its health is ${status}${after(" (", message, ")")}.`,
  DEGRADED_BEFORE: ({ message }) => `It is Degraded${after(" (", message, ")")}, by a status that does not show the change.`,
  DEGRADED: ({ since, seenAt, message, day }) => {
    const when = since === undefined ? `, seen with the change at ${clock(seenAt, day)}` : ` since ${clock(since, day)}`;
    return `It is Degraded${when}${after(" (", message, ")")}.`;
  },
  SUSPENDED: ({ message }) =>
    `Its health is Suspended${after(" (", message, ")")}: something in it is paused, such as a Rollout at a canary step.`,

  IMAGE_NOT_SHOWN: ({ wanted, shown }) => `It is Healthy, and none of its pods has ${wanted}: there is ${shown.join(", ")}.`,

  CONTENT_ASKED: "Argo CD is asked what its objects hold.",
  CONTENT_UNREAD: ({ because, required }, names) =>
    `What its objects hold cannot be read: ${names.because(because)} ${required ? "With `proof: content` it does not count without" : "If that stays so, it counts by its revision"}.`,
  CONTENT_UNTOLD:
    "Its objects do not tell whether the change is live, and with `proof: content` it does not count without that: pin a value that shows in them, such as a tag, or let it be `proof: revision`.",
  CONTENT_NOT_LIVE: "It renders to what the pins were set to, and its cluster holds something else, though Argo CD calls it Synced.",
  CONTENT_UNCHANGED:
    "Its objects are still those of before: its revision renders to exactly what the one before the change does. Is the pin used, and does manifest-generate-paths cover its file?",

  SETTLING: ({ since, until, day }) => `All is well since ${clock(since, day)}; it counts if that still holds at ${clock(until, day)}.`,
  READ_AWAITED: ({ at, day }) => `Its last report is good. It counts once Argo CD was asked for it by name, at ${clock(at, day)} or later.`,
  READ_FAILED: "{because} Asking failed: {problem}",
  EARLIER_READ_DIFFERS: ({ by }) => `The earlier read ${EARLIER[by]}, so it confirms nothing.`,
  EARLIER_READ_UNMET: 'The earlier read did not meet clause "{clause}": one more read must confirm this one.',
};

/** What is not about the Application itself, and what a person may answer with a command. */
const APART: { readonly [Code in keyof LivenessReasons]?: { subject?: Subject; actions?: readonly CommandName[] } } = {
  NO_APPLICATION: { actions: ["skip"] },
  CLUSTERS_UNASKED: { subject: "cluster" },
  CLOCK_AHEAD: { subject: "cluster" },
  APPLICATION_DELETED: { actions: ["skip"] },
  OWNER_ENDS: { subject: "resource", actions: ["skip"] },
  OWNER_SAYS: { subject: "resource" },
  OWNER_UNREADABLE: { subject: "resource" },
  NO_SUCH_SOURCE: { actions: ["skip"] },
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
  CONTENT_UNCHANGED: { actions: ["requeue", "skip", "rollback"] },
  READ_FAILED: { subject: "controlPlane" },
};

export const LIVENESS = Object.fromEntries(
  Object.entries(SAYS).map(([code, says]) => [code, { subject: "application", ...APART[code as keyof LivenessReasons], says }]),
) as unknown as Entries<LivenessReasons>;
