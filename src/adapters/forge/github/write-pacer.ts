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

interface PacerTime {
  now?: () => number;
  sleep?: (ms: number) => Promise<void>;
}

interface Waiting {
  by: number | undefined;
  go(inTime: boolean): void;
}

export function openWritePacer({
  now = () => performance.now(),
  sleep = (ms) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
}: PacerTime = {}): WritePacer {
  const line: Waiting[] = [];
  let paced = false;
  let last = Number.NEGATIVE_INFINITY;
  let moving = false;

  async function move(): Promise<void> {
    if (moving) return;
    moving = true;
    for (;;) {
      for (const late of line.filter(({ by }) => by !== undefined && by < now())) take(late).go(false);
      const next = line.find(({ by }) => by !== undefined) ?? line[0];
      if (next === undefined) break;
      const wait = last + GAP_MS - now();
      if (wait > 0) {
        await sleep(wait);
        continue;
      }
      last = now();
      take(next).go(true);
    }
    moving = false;
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
        void move();
      });
    },
  };
}
