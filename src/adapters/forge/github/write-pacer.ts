/** GitHub asks for about one write a second of an installation. */
const GAP_MS = 1000;

/** Where writes of one installation stand in line before they are sent, whichever Octokit sends them. */
export interface WritePacer {
  /** From the first call on they stand in line: nobody is held up where Octokit holds nobody up. */
  pace(): void;
  /**
   * Resolves when this write may be sent, at least a second after the one before. Those that have a time to be sent by
   * (`by`, as `now` counts) go before all that have none; false: it is over, do not send.
   */
  turn(by?: number): Promise<boolean>;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
}

/** Takes the installation's next turn among all replicas: resolves to the milliseconds until then. */
type TurnOfAll = () => Promise<number>;

interface PacerOptions {
  now?: () => number;
  sleep?: (ms: number) => Promise<void>;
  /** undefined: there are no others. */
  turnOfAll?: TurnOfAll | undefined;
}

/** By the Octokit of an installation. */
const turnsOfAll = new WeakMap<object, TurnOfAll>();

/** Has this Octokit's writes stand in one line with those of other replicas, before a forge is opened with it. */
export function paceWithAll(octokit: object, turnOfAll: TurnOfAll): void {
  turnsOfAll.set(octokit, turnOfAll);
}

export function pacerOf(octokit: object): WritePacer {
  const turnOfAll = turnsOfAll.get(octokit);
  const pacer = openWritePacer({ turnOfAll });
  if (turnOfAll !== undefined) pacer.pace();
  return pacer;
}

interface Waiting {
  by: number | undefined;
  go(inTime: boolean): void;
}

export function openWritePacer({
  now = () => performance.now(),
  sleep = (ms) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
  turnOfAll = async () => 0,
}: PacerOptions = {}): WritePacer {
  const line: Waiting[] = [];
  let paced = false;
  let last = Number.NEGATIVE_INFINITY;
  let moving = false;
  /** When one that has no time to be sent by may be sent, as far as other replicas go. */
  let ours: number | undefined;
  let stopWaiting = (): void => undefined;

  async function move(): Promise<void> {
    if (moving) return;
    moving = true;
    for (;;) {
      for (const late of line.filter(({ by }) => by !== undefined && by < now())) take(late).go(false);
      const next = line.find(({ by }) => by !== undefined) ?? line[0];
      if (next === undefined) break;
      const wait = await untilTurn(next);
      // One that came meanwhile goes first.
      if (next.by === undefined && line.some(({ by }) => by !== undefined)) continue;
      if (wait > 0) {
        await Promise.race([sleep(wait), new Promise<void>((resolve) => (stopWaiting = resolve))]);
        continue;
      }
      last = now();
      if (next.by === undefined) ours = undefined;
      else void turnOfAll();
      take(next).go(true);
    }
    moving = false;
  }

  /** What has a time to be sent by takes a turn from the others, and waits for none of theirs. */
  async function untilTurn({ by }: Waiting): Promise<number> {
    if (by === undefined) ours ??= (await turnOfAll()) + now();
    return Math.max(last + GAP_MS, by === undefined ? (ours ?? 0) : 0) - now();
  }

  function take(one: Waiting): Waiting {
    line.splice(line.indexOf(one), 1);
    return one;
  }

  return {
    now,
    pace() {
      paced = true;
    },
    async turn(by) {
      if (!paced) {
        last = now();
        return by === undefined || last <= by;
      }
      return new Promise<boolean>((go) => {
        line.push({ by, go });
        if (by !== undefined) stopWaiting();
        void move();
      });
    },
  };
}
