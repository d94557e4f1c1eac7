/** Reads what Argo CD says of an Application's worst resources, for people alone: nothing is decided by it. Called by `status.ts`. */
import { child, type Fields, fields, list, message, word } from "./lenient.ts";

const MOST_KEPT = 3;
const MOST_CHARACTERS = 300;
/** Of an operation that is over and well, what single resources say is of an earlier try. */
const OVER_AND_WELL = "Succeeded";

/**
 * `Deployment web/api: SyncFailed: admission webhook denied it`, the worst first and a few at most; undefined: nothing is wrong, or Argo CD
 * does not say with what. Which fail a sync stands in its result; the health of each stands in the status only where Argo CD is told to
 * keep it there.
 */
export function decodeUnwell(status: Fields): string[] | undefined {
  const found: string[] = [];
  const state = child(status, "operationState");
  if (word(state, "phase") !== OVER_AND_WELL) {
    for (const raw of list(child(state, "syncResult"), "resources")) {
      if (found.length === MOST_KEPT) return found;
      const one = fields(raw);
      const failed = failureOf(one);
      if (failed !== undefined) found.push(spelled(one, failed, message(one, "message")));
    }
  }
  for (const raw of list(status, "resources")) {
    if (found.length === MOST_KEPT) break;
    const one = fields(raw);
    const health = child(one, "health");
    if (word(health, "status") === "Degraded") found.push(spelled(one, "Degraded", message(health, "message")));
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
