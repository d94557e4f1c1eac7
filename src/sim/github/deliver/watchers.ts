import type { Exchange } from "../model/model.ts";

/** Sees all that an embedded GitHub answers and sends. What it throws ends the process's test, not the answer. */
export interface Watcher {
  /** Every answer of the API. */
  onExchange?: ((exchange: Exchange) => void) | undefined;
  /** Every event, before it is sent. */
  onDelivery?: ((delivery: { event: string; action: string | undefined; payload: unknown }) => void) | undefined;
}

const makers = new Set<() => Promise<Watcher>>();

/**
 * From now on each embedded GitHub that this process starts gets a watcher of its own, until what is given back is called.
 * Tests check all their worlds so.
 */
export function watchEveryGitHub(make: () => Promise<Watcher>): () => void {
  makers.add(make);
  return () => void makers.delete(make);
}

/** Those of the process, and the one that was asked for. */
export async function allWatchers(own: Watcher): Promise<Required<Watcher>> {
  const all = [own, ...(await Promise.all([...makers].map((make) => make())))];
  return {
    onExchange(exchange) {
      for (const { onExchange } of all) onExchange?.(exchange);
    },
    onDelivery(delivery) {
      for (const { onDelivery } of all) onDelivery?.(delivery);
    },
  };
}
