import { ForgeError } from "../../adapters/forge/port.ts";
import type { RepoContext } from "./context.ts";
import type { RepoMemory } from "./memory.ts";

/** GitHub's words for a permission that the App was not given, or for a token that is no App's. */
const NO_PERMISSION = /not accessible by (?:integration|personal access token)|authenticate via a GitHub App/i;

/** Not every 403 is one: an archived repository, a suspended installation and a list of allowed addresses answer it, too. */
export function lacksPermission(error: unknown): error is ForgeError {
  return error instanceof ForgeError && error.kind === "Forbidden" && NO_PERMISSION.test(error.message);
}

const told = new WeakMap<RepoMemory, Set<string>>();

/** It is not tried again before the permissions may have moved, which each resync takes for possible; said once. */
export function forbid(context: RepoContext, memory: RepoMemory, what: "checks" | "deployments", error: ForgeError): void {
  memory.forbidden.add(what);
  const before = told.get(memory) ?? new Set();
  if (!before.has(what)) context.log.warn({ error: error.message }, `the App may not write ${what}: they are left out until it may`);
  told.set(memory, before.add(what));
}
