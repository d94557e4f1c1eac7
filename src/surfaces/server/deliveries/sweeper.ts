/** Failed deliveries are asked for again, at most three times each. Called by the resync. */
import type { ProbotOctokit } from "probot";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import type { Clock } from "../../../core/base/time.ts";
import type { Log } from "../../../engine/round/context.ts";
import { deliveryName } from "./on-event.ts";

interface SweeperOptions {
  /** As the App itself: deliveries belong to it, not to an installation. */
  app(): Promise<ProbotOctokit>;
  clock: Clock;
  log: Log;
}

/** How far back the first look goes: what is older, the resync at the start has found. */
const FIRST_LOOK_MS = 60 * 60_000;
/** A delivery is listed as of when it was sent, and may fail half a minute later. */
const OVERLAP_MS = 5 * 60_000;
/** Younger ones may still be on their way. */
const ON_ITS_WAY_MS = 40_000;
const MOST_ATTEMPTS = 3;
const MOST_REMEMBERED = 5000;
const MOST_PAGES = 20;
const MOST_ASKED = 100;
/** What was not asked for is kept in view this long: GitHub forgets deliveries after three days. */
const LONGEST_LOOK_MS = 24 * 60 * 60_000;

interface Attempt {
  id: number;
  guid: string;
  at: number;
  ok: boolean;
}

/**
 * GitHub never sends a failed delivery again by itself. Each call looks through the deliveries since the last, asks again, at most three
 * times, for one of which no attempt was answered with 2xx, and gives how many were asked for. The list is newest first and may be cut:
 * what is then missed, the resync finds.
 */
export function openSweeper({ app, clock, log }: SweeperOptions): () => Promise<number> {
  let since = clock.now() - FIRST_LOOK_MS;
  /** GUID → how often it was asked for. */
  const askedFor = new BoundedMap<string, number>(MOST_REMEMBERED);

  return async () => {
    const octokit = await app();
    const began = clock.now();
    /** When the oldest was sent that is left for the next look. */
    let left = began - OVERLAP_MS;
    let asked = 0;
    let tried = 0;
    for (const [guid, { id, at }] of failed(await attemptsSince(octokit, since, log), began)) {
      if ((askedFor.get(guid) ?? 0) >= MOST_ATTEMPTS) continue;
      const outcome = tried < MOST_ASKED ? await askAgain(octokit, guid, id, log) : "later";
      tried += 1;
      if (outcome === "later") left = Math.min(left, at);
      else askedFor.set(guid, (askedFor.get(guid) ?? 0) + 1);
      if (outcome === "asked") asked += 1;
    }
    since = Math.max(left, began - LONGEST_LOOK_MS);
    return asked;
  };
}

async function attemptsSince(octokit: ProbotOctokit, from: number, log: Log): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const { data, headers } = await octokit.rest.apps.listWebhookDeliveries(defined({ per_page: 100, cursor }));
    for (const one of data) {
      const at = Date.parse(one.delivered_at);
      if (at < from) return attempts;
      attempts.push({ id: one.id, guid: one.guid, at, ok: one.status_code >= 200 && one.status_code < 300 });
    }
    cursor = nextCursor(headers.link);
    if (cursor === undefined) return attempts;
  }
  log.warn({ looked: attempts.length }, "there are more deliveries than are looked through; the resync finds what they told");
  return attempts;
}

async function askAgain(octokit: ProbotOctokit, guid: string, id: number, log: Log): Promise<"asked" | "refused" | "later"> {
  try {
    await octokit.rest.apps.redeliverWebhookDelivery({ delivery_id: id });
    log.info({ delivery: deliveryName(guid) }, "a failed delivery was asked for again");
    return "asked";
  } catch (error) {
    log.warn({ delivery: deliveryName(guid), error: String(error) }, "a failed delivery could not be asked for again");
    return isRefusal(error) ? "refused" : "later";
  }
}

/** GitHub will say the same the next time, unlike in an outage or at a limit. */
function isRefusal(error: unknown): boolean {
  const { status } = error as { status?: number };
  return status !== undefined && [400, 404, 410, 422].includes(status);
}

/** GUID → id of the newest attempt and time of the oldest, where none was taken and none may still be on its way. Oldest first. */
function failed(attempts: readonly Attempt[], now: number): Map<string, { id: number; at: number }> {
  const byGuid = Map.groupBy(attempts.toReversed(), ({ guid }) => guid);
  const wanted = new Map<string, { id: number; at: number }>();
  for (const [guid, all] of byGuid) {
    const [oldest, newest] = [all[0], all.at(-1)];
    if (oldest === undefined || newest === undefined || all.some((one) => one.ok)) continue;
    if (now - newest.at >= ON_ITS_WAY_MS) wanted.set(guid, { id: newest.id, at: oldest.at });
  }
  return wanted;
}

/** Of the `Link` header, which has other relations, too. */
function nextCursor(link: string | undefined): string | undefined {
  for (const part of (link ?? "").split(",")) {
    const [, url = "", relation] = /<([^>]*)>;.*\brel="([^"]*)"/.exec(part) ?? [];
    if (relation === "next" && URL.canParse(url)) return new URL(url).searchParams.get("cursor") ?? undefined;
  }
  return undefined;
}
