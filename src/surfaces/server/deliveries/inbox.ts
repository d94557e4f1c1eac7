/** A delivery is taken once, and says only where to look again. Called by `server.ts`. */
import { BoundedSet } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import type { Log } from "../../../engine/round/context.ts";

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
  /** Called once a GUID; must only note what to look at. What it throws makes the delivery a failed one, to be sent again. */
  onEvent(event: BotEvent): void;
  onTaken?: (event: string, outcome: "taken" | "again") => void;
}

/** GitHub keeps a GUID over redeliveries; older ones than these have long been looked at. */
const DELIVERIES_REMEMBERED = 10_000;

/** Takes each delivery once. Nothing is worked on here: who sent it waits for the answer. */
export function openInbox({ log, onEvent, onTaken = () => undefined }: InboxOptions): (delivery: VerifiedDelivery) => void {
  const seen = new BoundedSet<string>(DELIVERIES_REMEMBERED);
  return ({ id, name, payload }) => {
    if (seen.has(id)) {
      onTaken(name, "again");
      log.debug({ delivery: deliveryName(id), event: eventName(name) }, "a delivery came again");
      return;
    }
    const event = readEvent(id, name, payload);
    onEvent(event);
    // Only now: one that could not be noted may come again.
    seen.add(id);
    onTaken(name, "taken");
    log.debug({ ...event, deliveryId: deliveryName(id), name: eventName(name) }, "webhook");
  };
}

/** A payload may lack anything: what is not there is not known. */
export function readEvent(deliveryId: string, name: string, payload: unknown): BotEvent {
  const pull = wholeNumber(at(payload, "pull_request", "number")) ?? wholeNumber(at(payload, "issue", "number"));
  return {
    name,
    deliveryId,
    action: text(at(payload, "action")),
    repository: text(at(payload, "repository", "full_name")),
    installationId: wholeNumber(at(payload, "installation", "id")),
    sender: text(at(payload, "sender", "login")),
    pull,
    ...checkIn(payload),
  };
}

function checkIn(payload: unknown): Pick<BotEvent, "check"> {
  const name = text(at(payload, "check_run", "name"));
  const head = text(at(payload, "check_run", "head_sha")) ?? text(at(payload, "check_suite", "head_sha"));
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

function at(value: unknown, ...path: string[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}
