import type { Forge } from "../../adapters/forge/port.ts";

/**
 * A forge that answers nobody once `over` is aborted: calls under way fail at once, and new ones are not made. What is left of a round
 * that was given up ends at its next call, and does nothing more.
 */
export function fenceForge(forge: Forge, over: AbortSignal): Forge {
  const aborted = new Promise<never>((_resolve, reject) => {
    over.addEventListener("abort", () => reject(over.reason), { once: true });
  });
  aborted.catch(() => undefined);
  const calls = Object.entries(forge).map(([name, value]: [string, unknown]) => {
    return [name, typeof value === "function" ? guarded(value as (...given: unknown[]) => unknown) : value];
  });
  return Object.fromEntries(calls) as Forge;

  function guarded(call: (...given: unknown[]) => unknown): (...given: unknown[]) => unknown {
    return (...given) => {
      over.throwIfAborted();
      const answer = call(...given);
      return answer instanceof Promise ? Promise.race([answer, aborted]) : answer;
    };
  }
}
