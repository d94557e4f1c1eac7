/** For which repository something is asked of the outside, where neither its address nor who sends it knows; and whether it may be still. */
import { AsyncLocalStorage } from "node:async_hooks";

interface Asker {
  repository: string;
  /** Throws NotOurs. */
  mayWrite(): void;
}

const askers = new AsyncLocalStorage<Asker>();

/** Another process may look after the repository by now: nothing is sent for it any more. */
export class NotOurs extends Error {
  override name = "NotOurs";
  constructor(repository: string) {
    super(`another replica may look after ${repository} by now: nothing more is sent from here`);
  }
}

/**
 * Does work for a repository: what fails of all that it asks is that one's trouble, and keeps no other off a host. `mayWrite` is asked right
 * before anything is sent, however late: it throws NotOurs.
 */
export function askFor<T>(repository: string, work: () => T, mayWrite: () => void = () => undefined): T {
  return askers.run({ repository: repository.toLowerCase(), mayWrite }, work);
}

/** undefined: what goes on is nobody's, or everybody's. */
export function askedBy(): string | undefined {
  return askers.getStore()?.repository;
}

/** To be called right before something is sent that may change anything. Throws NotOurs. */
export function checkMayWrite(): void {
  askers.getStore()?.mayWrite();
}
