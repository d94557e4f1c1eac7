/** What an address of the API is about. */
import type { Context } from "hono";
import { whyNoRollout } from "../../../adapters/git/journal/run-paths.ts";
import type { Asking } from "./askers.ts";
import type { Viewer } from "./viewers.ts";

export interface Api {
  Bindings: { incoming?: Asking };
  /** `ended`: a session was brought that GitHub takes no more. */
  Variables: { viewer: Viewer; ended?: boolean };
}
export type Asked = Context<Api>;

export const ROLLOUT = "/repos/:owner/:repo/rollouts/:rollout";
/** An owner or repository of GitHub. */
const NAME = /^[\w.-]{1,100}$/;

/** Where the address points to; undefined: nowhere, or where whoever asks may see nothing, which is said alike. */
export async function placeOf(context: Asked): Promise<{ repository: string; rollout: string } | undefined> {
  const { owner = "", repo = "", rollout = "" } = context.req.param() as Record<string, string>;
  if (!NAME.test(owner) || !NAME.test(repo) || whyNoRollout(rollout) !== undefined) return undefined;
  const repository = `${owner}/${repo}`;
  return (await context.get("viewer").sees(repository)) ? { repository, rollout } : undefined;
}

export function numberOf(text: string | undefined): number | undefined {
  return /^[1-9]\d{0,15}$/.test(text ?? "") ? Number(text) : undefined;
}
