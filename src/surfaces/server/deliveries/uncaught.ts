import { defined } from "../../../core/base/defined.ts";
import type { Log } from "../../../engine/round/context.ts";
import { describeError } from "./resync.ts";

/** What of `process` is needed. */
interface Catching {
  on(event: "unhandledRejection" | "uncaughtException", listener: (error: unknown) => void): unknown;
  off(event: "unhandledRejection" | "uncaughtException", listener: (error: unknown) => void): unknown;
}

/** Where it happened: what is told of a failure that nobody expected. */
const MOST_OF_STACK = 4000;

/**
 * The last net below everything that this process does for all repos; without it, one promise that nobody waits for ends them all.
 *
 * A rejection is logged, and the process goes on: one thing that was begun beside the rounds came to nothing, and the next round
 * looks again. After an exception out of a timer or an event what was half-way through is unknown, so `broken` resolves: the process
 * is to drain and end, and its next start reads the journal. A further one meanwhile changes nothing.
 */
export function openLastNet(process: Catching, log: Log): { broken: Promise<void>; close(): void } {
  const broken = Promise.withResolvers<void>();
  const rejected = (error: unknown) => log.error(whole(error), "something that nobody waits for has failed; please report it. Going on");
  const thrown = (error: unknown) => {
    log.error(whole(error), "an exception that nobody has caught; please report it. Stopping, to be started again");
    broken.resolve();
  };
  process.on("unhandledRejection", rejected);
  process.on("uncaughtException", thrown);
  return {
    broken: broken.promise,
    close() {
      process.off("unhandledRejection", rejected);
      process.off("uncaughtException", thrown);
    },
  };
}

/** Of a failure that nobody expected: what, and where it came from. */
export function whole(error: unknown): { error: string; stack?: string } {
  const stack = error instanceof Error ? error.stack?.slice(0, MOST_OF_STACK) : undefined;
  return defined({ error: describeError(error).slice(0, MOST_OF_STACK), stack });
}
