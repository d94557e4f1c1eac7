import type { AnyReason, Words } from "../../base/reason.ts";
import { clusterName, type Planned } from "../../run/state/names.ts";
import { firstOf } from "../markdown.ts";
import { ATTENTION } from "./attention.ts";
import { BATCHES } from "./batches.ts";
import { BREACHES } from "./breaches.ts";
import { CHECKS } from "./checks.ts";
import { COMMANDS } from "./commands.ts";
import { COMMENTS } from "./comments.ts";
import { CONTROL_PLANE } from "./control-plane.ts";
import { ENGINE } from "./engine.ts";
import type { Entry } from "./entry.ts";
import { GATES } from "./gates.ts";
import { JOURNAL } from "./journal.ts";
import { LIVENESS } from "./liveness.ts";
import { OUTCOME } from "./outcome.ts";
import type { Names } from "./phrases.ts";
import { PROBLEMS } from "./problems/problems.ts";
import { RENDER_PROBLEMS } from "./render.ts";
import { SETTINGS } from "./settings.ts";
import { STAGES } from "./stages.ts";
import { TARGETS } from "./targets.ts";
import { sayWording } from "./wording.ts";

/** Every code that a run may tell, with its sentence; a problem of what people wrote may be why. */
export const REASONS: Readonly<Record<string, Entry<never>>> = {
  ...GATES,
  ...BATCHES,
  ...STAGES,
  ...TARGETS,
  ...CHECKS,
  ...COMMANDS,
  ...COMMENTS,
  ...OUTCOME,
  ...LIVENESS,
  ...CONTROL_PLANE,
  ...BREACHES,
  ...ENGINE,
  ...SETTINGS,
  ...JOURNAL,
  ...ATTENTION,
  ...PROBLEMS,
  ...RENDER_PROBLEMS,
};

/** Without a run at hand a cluster is called by what stands behind its control plane. */
const SHORT: Names = {
  cluster: short,
  clusters: (keys, most = 5) => firstOf([...keys].map(short), most) || "nothing",
  because: (words) => sentenceOf(words),
};

function short(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}

/** Returns how a run calls its clusters. */
export function namesOf(run: Planned | undefined): Names {
  if (run === undefined) return SHORT;
  return {
    cluster: (key) => clusterName(run, key),
    clusters: (keys, most = 5) =>
      firstOf(
        [...new Set(keys)].map((key) => clusterName(run, key)),
        most,
      ) || "nothing",
    because: (words) => sentenceOf(words, run),
  };
}

/** Says a reason in a sentence without a full stop. A code that is not known, or data that does not fit it, is shown as it stands. */
export function sentenceOf(words: Words, run?: Planned): string {
  if (typeof words === "string") return words;
  const entry = Object.hasOwn(REASONS, words.code) ? REASONS[words.code] : undefined;
  if (entry === undefined) return JSON.stringify(words);
  try {
    return sayWording(entry.says, words, namesOf(run));
  } catch {
    // A journal that was changed by hand may hold anything.
    return JSON.stringify(words);
  }
}

/** What the registry knows of a reason besides its sentence. */
export function entryOf({ code }: AnyReason): Omit<Entry<never>, "says"> | undefined {
  return Object.hasOwn(REASONS, code) ? REASONS[code] : undefined;
}

/** The same for a place that draws no Markdown: commands and names stand without their marks. */
export function plainSentence(words: Words, run?: Planned): string {
  return sentenceOf(words, run).replace(/`([^`]+)`/g, "$1");
}
