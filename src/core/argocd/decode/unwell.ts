/** Reads what Argo CD says of an Application's worst resources, for people alone: nothing is decided by it. Called by `status.ts`. */
import { child, type Fields, fields, list, message, word } from "./lenient.ts";

/** Of each of the two. */
export const MOST_KEPT = 3;
const MOST_CHARACTERS = 300;
/** Of an operation that is over and well, what single resources say is of an earlier try. */
const OVER_AND_WELL = "Succeeded";

/**
 * What failed a sync, a few at most: `Deployment web/api: SyncFailed: admission webhook denied it`; undefined: nothing did. It is of the
 * revision that this operation tried, which may be an earlier one than what is compared now.
 */
export function decodeFailed(state: Fields): string[] | undefined {
  if (word(state, "phase") === OVER_AND_WELL) return undefined;
  return told(list(child(state, "syncResult"), "resources"), (one) => {
    const failed = failureOf(one);
    return failed === undefined ? undefined : spelled(one, failed, message(one, "message"));
  });
}

/** Resources that are Degraded, a few at most; undefined: none is, or Argo CD is not told to keep the health of each in the status. */
export function decodeDegraded(status: Fields): string[] | undefined {
  return told(list(status, "resources"), (one) => {
    const health = child(one, "health");
    return word(health, "status") === "Degraded" ? spelled(one, "Degraded", message(health, "message")) : undefined;
  });
}

function told(resources: readonly unknown[], sayOf: (resource: Fields) => string | undefined): string[] | undefined {
  const found: string[] = [];
  for (const raw of resources) {
    const said = sayOf(fields(raw));
    if (said !== undefined) found.push(said);
    if (found.length === MOST_KEPT) break;
  }
  return found.length === 0 ? undefined : found;
}

/** Of a resource that could not be applied, and of a hook that failed. */
function failureOf(one: Fields): string | undefined {
  const phase = word(one, "hookPhase");
  if (word(one, "status") === "SyncFailed") return "SyncFailed";
  return phase === "Failed" || phase === "Error" ? phase : undefined;
}

function spelled(one: Fields, what: string, said: string | undefined): string {
  const named = [word(one, "namespace"), word(one, "name")].filter((part) => part !== undefined && part !== "").join("/");
  const line = said?.split("\n")[0]?.trim();
  const text = `${word(one, "kind") ?? "resource"} ${named}: ${what}${line === undefined || line === "" ? "" : `: ${line}`}`;
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS - 1)}…`;
}
