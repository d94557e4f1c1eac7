/** As whom one acts on a run here, and how a command is given: once, whatever happens on the way. */
import { createContext } from "preact";
import type { RunDocument } from "../../../core/report/model/schema/run.ts";
import type { Action } from "../../../core/report/model/types.ts";
import { hasPermission } from "../../../core/spec/commands.ts";
import type { CommandWritten, Me } from "../api/documents.ts";
import { API, parseSafely } from "./live.ts";

export interface Acting {
  base: string;
  repository: string;
  /** As it stands now. */
  run: Pick<RunDocument, "rollout" | "number" | "seen" | "says" | "commands" | "pause" | "ask">;
  me: Me;
}

/** Absent: nobody is known, or the run is over and kept; a command is copied then, and written on GitHub. */
export const ActingContext = createContext<Acting | undefined>(undefined);

/** Who may, where whoever looks may not. */
export function whoMay({ verb, needs, notBy }: Pick<Action, "verb" | "needs" | "notBy">, { login, permission }: Me): string | undefined {
  const not = notBy?.find((one) => one.login.toLowerCase() === login?.toLowerCase());
  if (not !== undefined) return not.says;
  if (permission === undefined || hasPermission(permission, needs)) return undefined;
  return `/${verb} needs ${needs} permission on the repository; @${login} has ${permission}`;
}

/** `lost`: nobody knows whether it stands there; given again with the same key, it is one comment. */
export type Outcome = { kind: "written"; comment: string; url: string } | { kind: "moved" | "refused" | "ended" | "lost"; says: string };

interface Given {
  action: Pick<Action, "verb" | "args" | "pull">;
  reason: string;
  /** What was in view. */
  seen: string;
}

/** Of what was sent and not answered: whoever closes the dialog and gives the same again writes one comment. */
const unanswered = new Map<string, string>();

export async function give({ base, repository, run }: Acting, { action, reason, seen }: Given): Promise<Outcome> {
  const url = `${base}${API}/repos/${repository}/rollouts/${encodeURIComponent(run.rollout)}/runs/${run.number}/commands`;
  const body = JSON.stringify({ verb: action.verb, args: action.args, pull: action.pull, seen, ...(reason.trim() !== "" && { reason }) });
  const key = unanswered.get(url + body) ?? newKey();
  unanswered.set(url + body, key);
  const headers = { "content-type": "application/json", "idempotency-key": key, "stagecoach-page": "1" };
  try {
    const response = await fetch(url, { method: "POST", headers, body });
    const answered = parseSafely(await response.text()) as Partial<CommandWritten> & { code?: string; title?: string; detail?: string };
    const { comment = "", url: at = "", title = "", detail } = answered;
    if (response.status < 500) unanswered.delete(url + body);
    if (response.status === 202) return { kind: "written", comment, url: at };
    const says = [title, detail].filter((part) => part !== undefined && part !== "").join(": ");
    if (response.status === 401) return { kind: "ended", says };
    if (response.status >= 500 || response.status === 429) return { kind: "lost", says };
    return { kind: answered.code === "MOVED" ? "moved" : "refused", says: answered.code === "MOVED" ? (detail ?? "") : says };
  } catch {
    return { kind: "lost", says: "Nobody answered" };
  }
}

/** A page that came over plain HTTP from another machine has no `randomUUID`. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
