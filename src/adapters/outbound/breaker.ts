/**
 * Keeps everybody off a host that does not answer: after a few faults in a row nothing is sent for a while, longer each time, and then one
 * request tries whether it is back. One for all repositories, so that a fleet does not ask a host that is down once for each of them; and one
 * for each of them beside it, since what fails for one alone may be its own trouble, or the one that asks at all.
 * No library's: those that are kept go by the machine's time, and what goes on here by a clock that is given.
 */
import { BoundedMap } from "../../core/base/bounded.ts";
import { type Clock, iso } from "../../core/base/time.ts";

const FAULTS_IN_A_ROW = 5;
/** Of one for whom nothing at all is answered any more, whoever else is. */
const FAULTS_ALONE = 25;
const FIRST_MS = 1000;
const LONGEST_MS = 60_000;
/** One that tries whether it is back and never ends is given up. */
const TRIAL_MS = 30_000;
const MOST_HOSTS = 1000;
/** Of hosts, each by whom it was asked for. */
const MOST_ASKED = 20_000;

/** Not sent, since the host has not answered lately. */
export class HostDown extends Error {
  override name = "HostDown";
  constructor(host: string, again: number) {
    super(`${host} has not answered lately; it is asked again at ${iso(again).slice(11, 19)} UTC`);
  }
}

export interface Breakers {
  /**
   * Sends, or throws HostDown. `isFault`: what came of it is the fault of a host that is down; of what is thrown it is asked, too; undefined
   * of a heavy question: that says nothing of the host. `asker`: for whom. What fails for one of several alone keeps
   * that one off the host, and no other.
   */
  through<T>(to: Asked, send: () => Promise<T>, isFault: (came: { answer: T } | { error: unknown }) => boolean | undefined): Promise<T>;
}

interface Asked {
  host: string;
  asker?: string | undefined;
  /** What is asked for may itself be why nothing comes: it is not the one that tries whether the host is back. */
  heavy?: boolean | undefined;
}

interface Host {
  faults: number;
  /** For whom, in a row. */
  failing: Set<string>;
  /** The first two who ever asked: whether there are several. */
  askers: Set<string>;
  /** Who tried last whether it is back. */
  triedBy?: string | undefined;
  /** Somebody else has wanted to ask since, and is let go first. */
  othersWait: boolean;
  /** How often in a row it was left alone. */
  rests: number;
  restsUntil: number;
}

const WELL = { faults: 0, rests: 0, restsUntil: 0, triedBy: undefined, othersWait: false };

const restMsOf = (rests: number) => Math.min(LONGEST_MS, FIRST_MS * 2 ** (rests - 1));

type Warn = { warn(fields: object, message: string): void };

export function openBreakers(clock: Clock, log?: Warn): Breakers {
  const shared = openBreaker(clock, FAULTS_IN_A_ROW, MOST_HOSTS, log);
  const own = openBreaker(clock, FAULTS_ALONE, MOST_ASKED);
  return {
    through(to, send, isFault) {
      const { host, asker, heavy } = to;
      const all = () => shared(to, host, send, isFault);
      if (asker === undefined) return all();
      // Not sent for everybody's sake is no fault of its own, nor an answer.
      const isOwn = (came: { error: unknown } | { answer: unknown }) => !("error" in came && came.error instanceof HostDown);
      return own({ host, heavy }, `${host} ${asker}`, all, (came) => (isOwn(came) ? isFault(came as never) : undefined));
    },
  };
}

type Through = <T>(
  to: Asked,
  key: string,
  send: () => Promise<T>,
  isFault: (came: { answer: T } | { error: unknown }) => boolean | undefined,
) => Promise<T>;

function openBreaker(clock: Clock, faultsInARow: number, most: number, log?: Warn): Through {
  const hosts = new BoundedMap<string, Host>(most);

  function failed({ host, asker }: Asked, state: Host): void {
    state.faults += 1;
    if (asker !== undefined && state.failing.size < 2) state.failing.add(asker);
    const isWide = asker === undefined || state.failing.size >= Math.min(2, state.askers.size);
    if (state.rests === 0 && (state.faults < faultsInARow || !isWide)) return;
    state.rests += 1;
    const restMs = restMsOf(state.rests);
    state.restsUntil = clock.now() + restMs;
    if (state.rests === 1) log?.warn({ host, restMs }, "a host does not answer: it is left alone for a while, longer each time");
  }

  return async (to, key, send, isFault) => {
    const { host, asker, heavy = false } = to;
    const state = hosts.get(key) ?? { ...WELL, failing: new Set(), askers: new Set() };
    hosts.set(key, state);
    if (asker !== undefined && state.askers.size < 2) state.askers.add(asker);
    const { rests } = state;
    const isMine = asker !== undefined && state.triedBy === asker;
    // Whoever waits may never come back: no longer than the rest was.
    const isOthersTurn = isMine && state.othersWait && clock.now() < state.restsUntil + restMsOf(rests);
    if (rests > 0 && (clock.now() < state.restsUntil || isOthersTurn)) {
      state.othersWait ||= !isMine;
      throw new HostDown(host, Math.max(state.restsUntil, clock.now()));
    }
    // The next ones wait for what comes of this one.
    if (rests > 0 && !heavy) Object.assign(state, { restsUntil: clock.now() + TRIAL_MS, triedBy: asker, othersWait: false });
    const judge = (came: Parameters<typeof isFault>[0]) => {
      const fault = isFault(came);
      if (fault === undefined) {
        // It has told nothing, and the next one may try.
        if (rests > 0 && !heavy) state.restsUntil = clock.now();
        return;
      }
      if (!fault) Object.assign(state, WELL, { failing: new Set() });
      // What was under way when the host was first left alone is that same fault.
      else if (state.rests === rests) failed(to, state);
    };
    const answer = await send().catch((error: unknown) => {
      judge({ error });
      throw error;
    });
    judge({ answer });
    return answer;
  };
}
