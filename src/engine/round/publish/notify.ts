/**
 * Tells people what rounds have recorded, where the repo's settings want it: each event once. It hands over what there is to tell and waits for
 * nothing. What this process has not recorded itself another one tells; only its first look goes by what is kept of the one before.
 */
import type { RepoTold } from "../../../adapters/notify/port.ts";
import { BoundedSet } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import { epoch, iso } from "../../../core/base/time.ts";
import type { RefusedModel } from "../../../core/report/model/refused.ts";
import { type NotifyEvent, refusedEvent, type Told, untold } from "../../../core/report/notify/events.ts";
import { type Notice, type RunCard, refusedNotice, runCardOf, runKey, runNotice } from "../../../core/report/notify/notice.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { destinationsOf, type NotifyRule } from "../../../core/spec/notifications.ts";
import type { Settings } from "../../config-repo/settings.ts";
import type { RepoContext } from "../context.ts";
import type { Decision } from "../decide.ts";
import type { Started } from "../start/started.ts";

interface Recorded {
  /** The last run of each rollout. */
  runs: ReadonlyMap<string, Run>;
  started: readonly Started[];
  decisions: readonly Decision[];
  refused: readonly RefusedModel[];
}

/** `base`: head of the base branch, whose settings count. */
export type TellPeople = (base: string, recorded: Recorded) => Promise<void>;

/** On a new disk nobody knows what was told: what is older than this was. */
const RECENT_MS = 10 * 60_000;
const MOST_REFUSED = 1000;

type Context = Pick<RepoContext, "repository" | "repoURL" | "notifier" | "page" | "clock" | "log">;

/** Which repository tells, and what its messages are drawn with. */
interface Speaker extends Pick<Context, "clock"> {
  of: Parameters<typeof runNotice>[0];
  given: Parameters<typeof runCardOf>[2];
}

export function openTeller(context: Context, settings: Pick<Settings, "notifications">): TellPeople {
  const { repository, repoURL, notifier, page, clock, log } = context;
  if (notifier === undefined) return async () => undefined;
  const speaker: Speaker = { of: { repository, source: repoURL.replace(/\.git$/, "") }, given: defined({ page }), clock };
  const unknown = new BoundedSet<string>(100);
  let told: RepoTold | undefined;
  /** Rollouts that this process recorded something of that it has not handed over yet. */
  const owed = new Set<string>();

  function warnUnknown(rules: readonly NotifyRule[]): void {
    for (const { to } of rules) {
      if (notifier?.mayUse(repository, to) !== false || unknown.has(to)) continue;
      unknown.add(to);
      const fields = { repository, destination: to.slice(0, 100) };
      log.warn(fields, "notifications name a destination that is not there, or not for this repository");
    }
  }

  async function tell(base: string, { started, runs, decisions, refused }: Recorded): Promise<void> {
    if (notifier === undefined) return;
    const isFirst = told === undefined;
    const changed = new Map(
      decisions.filter(({ advanced }) => advanced.change !== "none").map(({ advanced }) => [advanced.run.rollout, advanced.run]),
    );
    for (const rollout of [...changed.keys(), ...started.flatMap((one) => one.run?.rollout ?? [])]) owed.add(rollout);
    const before = told ?? (await notifier.told(repository));
    const rules = await settings.notifications(base);
    if (rules.length === 0 && isFirst && before === undefined) return owed.clear();
    warnUnknown(rules);
    const next: RepoTold = { rollouts: {}, refused: [] };
    const notices: { to: string[]; notice: Notice }[] = [];
    const cards = new Map<string, RunCard>();
    for (const run of runs.values()) {
      const last = before?.rollouts[run.rollout];
      const found = eventsOf(last, run, clock.now(), { mine: owed.has(run.rollout), isFirst });
      next.rollouts[run.rollout] = found.told;
      notices.push(...noticesOf(speaker, run, found.events, rules));
      if (changed.has(run.rollout) && rules.length > 0) {
        const notice = { repository, run: { rollout: run.rollout, number: run.number } } as Notice;
        cards.set(runKey(notice) ?? "", runCardOf(run, clock.now(), speaker.given));
      }
    }
    const refusals = refusalsOf(speaker, refused, rules, before);
    next.refused = refusals.ids;
    notices.push(...refusals.notices);
    const isSame = JSON.stringify(next) === JSON.stringify(before);
    told = next;
    owed.clear();
    const wanted = notices.filter(({ to }) => to.length > 0);
    if (!isSame || wanted.length > 0 || cards.size > 0) notifier.tell(repository, { told: next, notices: wanted, cards });
  }

  return async (base, recorded) => {
    try {
      await tell(base, recorded);
    } catch (error) {
      // No trouble with it holds a run.
      log.error({ repository, error: String(error) }, "people could not be told");
    }
  };
}

/** By destinations, so that a message tells each of them what it wants to know, and no more. */
function noticesOf({ of, given, clock }: Speaker, run: Run, events: readonly NotifyEvent[], rules: readonly NotifyRule[]) {
  const wanted = new Map<string, NotifyEvent[]>();
  for (const event of events)
    for (const to of destinationsOf(rules, { ...event, rollout: run.rollout })) wanted.set(to, [...(wanted.get(to) ?? []), event]);
  const alike = Map.groupBy(wanted, ([, own]) => own.map(({ id }) => id).join());
  return [...alike.values()].map((all) => ({
    to: all.map(([to]) => to),
    notice: runNotice(of, run, all[0]?.[1] ?? [], clock.now(), given),
  }));
}

/** Of a run that another process brought here nothing is told: that one did. */
function eventsOf(before: Told | undefined, run: Run, now: number, { mine, isFirst }: { mine: boolean; isFirst: boolean }) {
  const found = untold(before, run, now);
  const isNews = ({ at }: NotifyEvent) => (isFirst ? before !== undefined || now - epoch(at) < RECENT_MS : mine);
  return { events: found.events.filter(isNews), told: found.told };
}

function refusalsOf({ of, clock }: Speaker, refused: readonly RefusedModel[], rules: readonly NotifyRule[], before: RepoTold | undefined) {
  const now = clock.now();
  const all = refused.map((one) => ({ one, event: { ...refusedEvent(one), at: one.since ?? iso(now) } }));
  const fresh = all.filter(({ event }) => before?.refused.includes(event.id) !== true);
  const news = fresh.filter(({ event }) => before !== undefined || now - epoch(event.at) < RECENT_MS);
  const notices = news.map(({ one, event }) => ({
    to: destinationsOf(rules, { event: "refused", rollout: one.rollout }),
    notice: refusedNotice(of, one, event, undefined),
  }));
  return { notices, ids: [...(before?.refused ?? []), ...fresh.map(({ event }) => event.id)].slice(-MOST_REFUSED) };
}
