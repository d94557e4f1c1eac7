/** A delivery is taken once, and says only where to look again: which repositories it wakes is decided here. Called by `server.ts`. */
import type { Delivery } from "../../../adapters/queue/port.ts";
import { BoundedSet } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import { dig } from "../../../core/base/is-record.ts";
import type { Log } from "../../../engine/round/context.ts";
import type { Telemetry } from "../telemetry/scope.ts";
import type { Repos } from "../tenancy/repos.ts";
import type { ServedRepo } from "../tenancy/served-repo.ts";

/** What a delivery says: where to look again, and nothing that is believed. */
export interface BotEvent {
  name: string;
  action: string | undefined;
  deliveryId: string;
  /** `owner/name`. */
  repository: string | undefined;
  installationId: number | undefined;
  /** Whose doing it was. */
  sender: string | undefined;
  /** Number of the issue or PR it is about. */
  pull: number | undefined;
  /** Which check run it is about, or all of a suite's, and of which commit. */
  check?: { head: string; name?: string };
}

/** One delivery as Probot hands it on: its signature holds. */
interface VerifiedDelivery {
  id: string;
  name: string;
  payload: unknown;
}

interface InboxOptions {
  log: Log;
  /**
   * Must only note what to look at, and may keep it: false where it had been kept before. What it throws makes the delivery a failed one, to
   * be sent again.
   */
  onEvent(event: BotEvent): unknown;
  onTaken?: (event: string, outcome: "taken" | "again") => void;
  /** A delivery is named to the log and to traces while it is taken. */
  within?: Telemetry["delivery"] | undefined;
}

/** GitHub keeps a GUID over redeliveries; older ones than these have long been looked at. */
const DELIVERIES_REMEMBERED = 10_000;

/** Takes each delivery once. Nothing is worked on here: who sent it waits for the answer. */
export function openInbox({
  log,
  onEvent,
  onTaken = () => undefined,
  within = (_id, _fields, work) => work(),
}: InboxOptions): (delivery: VerifiedDelivery) => unknown {
  const seen = new BoundedSet<string>(DELIVERIES_REMEMBERED);
  return (delivery) => within(deliveryName(delivery.id), { event: eventName(delivery.name) }, () => take(delivery));

  function take({ id, name, payload }: VerifiedDelivery): unknown {
    if (seen.has(id)) return again(id, name);
    const event = readEvent(id, name, payload);
    const noted = onEvent(event);
    return noted instanceof Promise ? noted.then((isNew) => taken(event, isNew)) : taken(event, noted);
  }

  function taken(event: BotEvent, isNew: unknown): void {
    const { deliveryId, name } = event;
    // Only now: one that could not be noted may come again.
    seen.add(deliveryId);
    if (isNew === false) again(deliveryId, name);
    else {
      onTaken(name, "taken");
      log.debug({ ...event, deliveryId: deliveryName(deliveryId), name: eventName(name) }, "webhook");
    }
  }

  function again(id: string, name: string): void {
    onTaken(name, "again");
    log.debug({ delivery: deliveryName(id), event: eventName(name) }, "a delivery came again");
  }
}

/** A payload may lack anything: what is not there is not known. */
export function readEvent(deliveryId: string, name: string, payload: unknown): BotEvent {
  const pull = wholeNumber(dig(payload, "pull_request", "number")) ?? wholeNumber(dig(payload, "issue", "number"));
  return {
    name,
    deliveryId,
    action: text(dig(payload, "action")),
    repository: text(dig(payload, "repository", "full_name")),
    installationId: wholeNumber(dig(payload, "installation", "id")),
    sender: text(dig(payload, "sender", "login")),
    pull,
    ...checkIn(payload),
  };
}

function checkIn(payload: unknown): Pick<BotEvent, "check"> {
  const name = text(dig(payload, "check_run", "name"));
  const head = text(dig(payload, "check_run", "head_sha")) ?? text(dig(payload, "check_suite", "head_sha"));
  if (head === undefined || !/^[0-9a-f]{40,64}$/.test(head)) return {};
  return { check: defined({ head, name }) };
}

/** For the log: whoever sends a header chooses what is in it. */
export function deliveryName(id: unknown): string {
  return typeof id === "string" && /^[\w-]{1,64}$/.test(id) ? id : "unreadable";
}

export function eventName(name: unknown): string {
  return typeof name === "string" && /^[a-z_]{1,64}$/.test(name) ? name : "unreadable";
}

const LONGEST_TEXT = 300;

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.length <= LONGEST_TEXT ? value : undefined;
}

function wholeNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}

interface EventHandlerOptions {
  repos: Repos;
  /** `by`: this account said something. */
  wake(repository: string, by?: string): void;
  /** What the App is installed on may have changed. */
  rediscover(): void;
}

/** Of where the App is, and of what becomes of a repository as a whole: renamed, archived, made anew. */
const REPOSITORY_EVENTS = /^(installation|installation_repositories|installation_target|repository|organization)$/;
/** The base or a PR's head may have moved. Whoever writes a command has often just put something right, too. */
const MOVING_EVENTS = new Set(["push", "pull_request", "issue_comment", "pull_request_review", "merge_group", "create", "release"]);
/** A comment or review on an open release PR may ask for its plan. */
const PULL_EVENTS = new Set(["pull_request", "push", "issue_comment", "pull_request_review", "merge_group", "create"]);

/** As it is kept until it was looked at. */
export function deliveryOf(event: BotEvent): Delivery {
  return { guid: event.deliveryId, repository: repositoryOf(event), event };
}

/** Of which repository an event is, in lower case; undefined: of none alone. */
function repositoryOf({ name, repository }: BotEvent): string | undefined {
  return REPOSITORY_EVENTS.test(name) ? undefined : repository?.toLowerCase();
}

/** Whether an event says anything to somebody who looks after these. */
export function concerns(event: BotEvent, repos: Pick<Repos, "has">): boolean {
  const repository = repositoryOf(event);
  return repository === undefined ? REPOSITORY_EVENTS.test(event.name) : repos.has(repository);
}

/**
 * Turns an event into what to look at again. It is believed in nothing else, so it may be late, doubled or lost. False: there is nothing to
 * look at.
 */
export function eventHandler({ repos, wake, rediscover }: EventHandlerOptions): (event: BotEvent) => boolean {
  return (event) => {
    if (!concerns(event, repos)) return false;
    const repository = repositoryOf(event);
    if (repository === undefined) {
      if (event.action === "new_permissions_accepted") permissionsAccepted(event);
      rediscover();
      return true;
    }
    const served = repos.get(repository);
    if (served !== undefined) {
      if (isOurs(served, event)) return false;
      served.hear(deliveryName(event.deliveryId));
      note(served, event);
    }
    wake(repository, isSaid(event) ? event.sender : undefined);
    return true;
  };

  /** What the App was refused before, or could not see, it may now. */
  function permissionsAccepted({ installationId }: BotEvent): void {
    for (const served of repos.opened()) {
      if (served.installationId !== installationId) continue;
      served.loop.permissions.suspect();
      served.loop.people.forgetTeams();
      served.loop.remote.hear();
      served.pullsNeedFetch = true;
      wake(served.context.repository.toLowerCase());
    }
  }
}

/** As `eventHandler`, of what was kept. What a newer version kept is not read here: everything of the repository is looked at. */
export function deliveryHandler(options: EventHandlerOptions): (delivery: Pick<Delivery, "repository" | "event">) => boolean {
  const handle = eventHandler(options);
  return ({ repository, event }) => {
    if (event !== undefined) return handle(event as BotEvent);
    if (repository === undefined) options.rediscover();
    else {
      const served = options.repos.get(repository);
      if (served !== undefined) suspectAll(served);
      options.wake(repository);
    }
    return true;
  };
}

/** Whatever is known of it is looked at anew by its next round. */
export function suspectAll(served: ServedRepo): void {
  served.pullsNeedFetch = true;
  served.loop.remote.hear();
  served.loop.permissions.suspectHourly();
  served.inbox.resync();
}

/** What people write may be a command. What bots do is not waited for: it may be what we ourselves did in a round that was given up. */
function isSaid({ name, sender }: BotEvent): boolean {
  return (name === "issue_comment" || name === "pull_request_review") && sender?.endsWith("[bot]") !== true;
}

/** What we did ourselves is looked at without being told, but for what a merge queue does in our name. */
function isOurs(served: ServedRepo, event: BotEvent): boolean {
  if (event.sender !== served.login || event.name === "merge_group") return false;
  return !(event.name === "pull_request" && event.action === "closed");
}

function note(served: ServedRepo, event: BotEvent): void {
  if (event.pull !== undefined && event.name === "issue_comment") served.inbox.touched(event.pull);
  if (event.pull !== undefined && event.name === "pull_request_review") served.inbox.touched(event.pull, "review");
  // A merge group is told of in the name of whoever put its PR into the queue: that may be us.
  if (event.sender === served.login && event.name !== "merge_group") return;
  // What somebody has just said in a review counts in the next round.
  if (event.name === "pull_request_review") served.loop.people.forgetReviews();
  const again = rerequested(event);
  if (again !== undefined) served.loop.checkRuns.ask(again.head, again.name);
  if (MOVING_EVENTS.has(event.name) || again !== undefined) served.loop.remote.hear();
  served.pullsNeedFetch ||= PULL_EVENTS.has(event.name) || again !== undefined;
}

/** "Re-run" beside one check, or for all of ours: GitHub tells the App alone whose they are. */
function rerequested({ name, action, check }: BotEvent): BotEvent["check"] {
  return (name === "check_run" || name === "check_suite") && action === "rerequested" ? check : undefined;
}
