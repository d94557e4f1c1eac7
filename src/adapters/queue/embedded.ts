import { inProcessQueue } from "./in-process.ts";
import type { SharedQueue, SharingOptions } from "./port.ts";

/** The queue of a process that has all repositories to itself. */
export function embeddedQueue(options: SharingOptions): SharedQueue {
  let shared: readonly string[] = [];
  return {
    ...inProcessQueue(options),
    start: async () => [...shared],
    share(repositories) {
      shared = repositories;
    },
    owns: () => true,
    fence: () => () => undefined,
    keep(delivery) {
      options.onDelivery(delivery);
      return true;
    },
    leads: () => true,
    leave: async () => undefined,
    sharing: () => undefined,
  };
}
