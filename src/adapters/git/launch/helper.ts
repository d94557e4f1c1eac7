/** The small process that starts programs for a large one. Started by launcher.ts alone, and ends with it. */
import { errorText } from "../../../core/base/error-text.ts";
import { runCommand } from "./command.ts";
import type { Answer, Order } from "./launcher.ts";

const running = new Map<number, AbortController>();

// An interrupt at the terminal reaches it too: whoever it works for says when it is over.
process.on("SIGINT", () => undefined);
process.on("disconnect", () => {
  for (const stop of running.values()) stop.abort();
  process.exit();
});
process.on("message", async (order: Order) => {
  if ("stop" in order) running.get(order.id)?.abort();
  else await carryOut(order);
});

async function carryOut({ id, command }: Extract<Order, { command: unknown }>): Promise<void> {
  const stop = new AbortController();
  running.set(id, stop);
  try {
    tell({ id, ended: await runCommand(command, stop.signal) });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
    tell({ id, error: errorText(error), code });
  } finally {
    running.delete(id);
  }
}

function tell(answer: Answer): void {
  // Who asked may be gone by now.
  if (process.connected) process.send?.(answer, () => undefined);
}

tell({ ready: true });
