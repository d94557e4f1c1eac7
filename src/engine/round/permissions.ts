import { ForgeError } from "../../adapters/forge/port.ts";
import type { RepoContext } from "./context.ts";

/** GitHub's words for a permission that the App was not given, or for a token that is no App's. */
const NO_PERMISSION = /not accessible by (?:integration|personal access token)|authenticate via a GitHub App/i;

/** Not every 403 is one: an archived repository, a suspended installation and a list of allowed addresses answer it, too. */
export function lacksPermission(error: unknown): error is ForgeError {
  return error instanceof ForgeError && error.kind === "Forbidden" && NO_PERMISSION.test(error.message);
}

/** What GitHub lets an App leave out. */
type Permission = "checks" | "deployments";

/** What the App was not given the permission for, as far as its calls were refused. */
export interface Permissions {
  isForbidden(what: Permission): boolean;
  /** It is not tried again before the permissions may have changed; said once. */
  forbid(what: Permission, error: ForgeError): void;
  /** Whether the App may have been given more since: the next look gets itself a new token, which has it. */
  readonly mayHaveChanged: boolean;
  /** An event told so, or it is taken for possible. */
  suspect(): void;
  /** The same where something is forbidden, once an hour: each try costs a token and a call. */
  suspectHourly(): void;
  /** There is a new token: what was forbidden is tried again. */
  renewed(): void;
}

const HOUR_MS = 3_600_000;

export function openPermissions({ clock, log }: Pick<RepoContext, "clock" | "log">): Permissions {
  const forbidden = new Set<Permission>();
  const reported = new Set<Permission>();
  let mayHaveChanged = false;
  let suspectedAt = Number.NEGATIVE_INFINITY;
  return {
    isForbidden: (what) => forbidden.has(what),
    forbid(what, error) {
      forbidden.add(what);
      if (!reported.has(what)) log.warn({ error: error.message }, `the App may not write ${what}: they are left out until it may`);
      reported.add(what);
    },
    get mayHaveChanged() {
      return mayHaveChanged;
    },
    suspect() {
      mayHaveChanged = true;
    },
    suspectHourly() {
      if (forbidden.size === 0 || clock.now() - suspectedAt < HOUR_MS) return;
      suspectedAt = clock.now();
      mayHaveChanged = true;
    },
    renewed() {
      forbidden.clear();
      mayHaveChanged = false;
    },
  };
}
