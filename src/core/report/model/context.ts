/** What the builders of the model share. */
import type { Words } from "../../base/reason.ts";
import type { Run } from "../../run/state/run.ts";
import type { History } from "../plan/duration.ts";
import { entryOf, plainSentence } from "../reasons/say.ts";
import type { ModelNode, Said } from "./model.ts";

export interface Context {
  run: Run;
  /** Epoch milliseconds. */
  now: number;
  /** Where an Application is shown, by its key; undefined: nobody said where its control plane's pages are. */
  linkTo: (key: string) => string | undefined;
  /** What Argo CD says of a target just now, by target key. */
  live: ReadonlyMap<string, string>;
  /** How long past runs of the rollout took. */
  history: History;
}

/** The reason of a node, what it is about, and its sentence. */
export function explained({ run }: Pick<Context, "run">, why: Words): Pick<ModelNode, "reason" | "subject" | "says"> {
  if (typeof why === "string") return { says: why };
  return { reason: why, subject: entryOf(why)?.subject, says: plainSentence(why, run) };
}

export function saidOf({ run }: Pick<Context, "run">, reason: Said["reason"]): Said {
  return { reason, says: plainSentence(reason, run) };
}
