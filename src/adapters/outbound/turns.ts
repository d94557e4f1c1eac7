import { askedBy } from "./asker.ts";

/** Does a few pieces of work at once. */
type Turns = <T>(work: () => Promise<T>) => Promise<T>;

/** So many at once; of those that wait the repository goes first whose last turn was the longest ago, however many of another's wait. */
export function openTurns(most: number): Turns {
  /** By asker. */
  const waiting = new Map<string, (() => void)[]>();
  const lastTurn = new Map<string, number>();
  let running = 0;
  let turns = 0;

  function begin(asker: string): void {
    running += 1;
    lastTurn.set(asker, ++turns);
  }

  function end(): void {
    running -= 1;
    const [next] = [...waiting.keys()].sort((a, b) => (lastTurn.get(a) ?? 0) - (lastTurn.get(b) ?? 0));
    if (next === undefined) {
      if (running === 0) lastTurn.clear();
      return;
    }
    const line = waiting.get(next) ?? [];
    const go = line.shift();
    if (line.length === 0) waiting.delete(next);
    begin(next);
    go?.();
  }

  return async (work) => {
    const asker = askedBy() ?? "";
    if (running < most) begin(asker);
    else {
      await new Promise<void>((go) => {
        const line = waiting.get(asker) ?? [];
        line.push(go);
        waiting.set(asker, line);
      });
    }
    try {
      return await work();
    } finally {
      end();
    }
  };
}
