/** What the builders of the model share. */
import { defined } from "../../base/defined.ts";
import type { AnyReason } from "../../base/reason.ts";
import type { Next, Run } from "../../run/state/run.ts";
import type { LinkTo } from "../links.ts";
import type { PageOf } from "../page-places.ts";
import { type History, NO_HISTORY } from "../plan/duration.ts";
import { entryOf, plainSentence } from "../reasons/say.ts";
import type { Awaited, ModelNode, Said } from "./types.ts";

export interface Context {
  run: Run;
  /** Epoch milliseconds. */
  now: number;
  linkTo: LinkTo;
  /** Where it is shown on the page. */
  page: PageOf;
  /** What Argo CD says of a target just now, by target key. */
  live: ReadonlyMap<string, string>;
  /** How long past runs of the rollout took. */
  history: History;
}

/** What a view knows besides the run: where Applications and the run itself are shown, and how past runs went. */
export type GivenToDraw = Partial<Pick<Context, "linkTo" | "history" | "page">>;

export function contextOf(run: Run, now: number, given: Partial<Omit<Context, "run" | "now">> = {}): Context {
  return { linkTo: () => undefined, page: () => undefined, live: new Map(), history: NO_HISTORY, ...given, run, now };
}

/** Returns the reason of a node, what it is about, and its sentence. */
export function explainNode({ run }: Pick<Context, "run">, why: AnyReason): Pick<ModelNode, "reason" | "subject" | "says"> {
  return { reason: why, subject: entryOf(why)?.subject, says: plainSentence(why, run) };
}

export function saidOf({ run }: Pick<Context, "run">, reason: Said["reason"]): Said {
  return { reason, says: plainSentence(reason, run) };
}

export function awaitedOf(context: Pick<Context, "run">, next: Next | null): Awaited | undefined {
  return next === null ? undefined : defined({ ...saidOf(context, next.what), at: next.eta });
}
