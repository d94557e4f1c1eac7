/** For which repository something is asked of the outside, where neither its address nor who sends it knows. */
import { AsyncLocalStorage } from "node:async_hooks";

const repositories = new AsyncLocalStorage<string>();

/** Does work for a repository: what fails of all that it asks is that one's trouble, and keeps no other off a host. */
export function askFor<T>(repository: string, work: () => T): T {
  return repositories.run(repository.toLowerCase(), work);
}

/** undefined: what goes on is nobody's, or everybody's. */
export function askedBy(): string | undefined {
  return repositories.getStore();
}
