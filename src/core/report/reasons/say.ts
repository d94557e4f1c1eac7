import type { AnyReason } from "../../base/reason.ts";
import { clusterName, type Planned, shortOf } from "../../run/state/names.ts";
import { firstOf } from "../markdown.ts";
import { ATTENTION } from "./attention.ts";
import { BATCHES } from "./batches.ts";
import { CHECKS } from "./checks.ts";
import { COMMANDS } from "./commands.ts";
import { COMMENTS } from "./comments.ts";
import { CONTROL_PLANE } from "./control-plane.ts";
import { ENGINE } from "./engine.ts";
import type { Entry } from "./entry.ts";
import { GATES } from "./gates.ts";
import { BREACHES, JOURNAL } from "./journal.ts";
import { LIVENESS } from "./liveness.ts";
import { OUTCOME } from "./outcome.ts";
import { addStop, type Names } from "./phrases.ts";
import { PROBLEMS } from "./problems/problems.ts";
import { RENDER_PROBLEMS } from "./render.ts";
import { SETTINGS } from "./settings.ts";
import { STAGES } from "./stages.ts";
import { TARGETS } from "./targets.ts";
import { sayWording } from "./wording.ts";

/** Every table of reasons but those of problems, by what it is about. */
export const TABLES = {
  "What a merge waits for": GATES,
  Batches: BATCHES,
  Stages: STAGES,
  "Clusters and their Applications": TARGETS,
  "Analyses and hooks": CHECKS,
  Commands: COMMANDS,
  "Comments that no run sees": COMMENTS,
  "How a run comes out": OUTCOME,
  "Whether a change is live and healthy": LIVENESS,
  "Control planes": CONTROL_PLANE,
  "What must never happen": BREACHES,
  "What the engine sees and tells": ENGINE,
  "The server's settings": SETTINGS,
  "The journal": JOURNAL,
  "What stops a repository": ATTENTION,
};

/** Every code that a run may tell, with its sentence; a problem of what people wrote may be why. */
export const REASONS: Readonly<Record<string, Entry<never>>> = Object.assign({}, ...Object.values(TABLES), PROBLEMS, RENDER_PROBLEMS);

/** Without a run at hand a cluster is called by what stands behind its control plane. */
const SHORT: Names = {
  cluster: shortOf,
  clusters: (keys, most = 5) => firstOf([...keys].map(shortOf), most) || "nothing",
  because: (words) => insideOf(words, sentenceOf(words)),
};

/** Returns how a run calls its clusters. */
export function namesOf(run: Planned | undefined): Names {
  if (run === undefined) return SHORT;
  return {
    targetBy: run.plan.targetBy,
    cluster: (key) => clusterName(run, key),
    clusters: (keys, most = 5) =>
      firstOf(
        [...new Set(keys)].map((key) => clusterName(run, key)),
        most,
      ) || "nothing",
    because: (words) => insideOf(words, sentenceOf(words, run)),
  };
}

/** Codes that are another's words: those stay as they were written. */
const OF_OTHERS: ReadonlySet<string> = new Set(["SAID", "OWNER_SAYS", "PROGRAM_SAYS"]);

/** A sentence within another: it begins small, and its stop is that of the other. */
function insideOf({ code }: AnyReason, text: string): string {
  const line = text.trim().replace(/(?<![.])\.$/, "");
  return OF_OTHERS.has(code) ? line : line.replace(/^(?:A|An|It|Its|None|Somebody|The)\b/, (word) => word.toLowerCase());
}

/** Says a reason in a sentence without a full stop. A code that is not known, or data that does not fit it, is shown as it stands. */
export function sentenceOf(reason: AnyReason | undefined, run?: Planned): string {
  if (reason === undefined) return "";
  try {
    const entry = Object.hasOwn(REASONS, reason.code) ? REASONS[reason.code] : undefined;
    return entry === undefined ? JSON.stringify(reason) : sayWording(entry.says, reason, namesOf(run));
  } catch {
    // A journal that was changed by hand may hold anything.
    return JSON.stringify(reason);
  }
}

/** Says a reason as it stands by itself: with a capital at its start, unless a name begins it, and a stop at its end. */
export function wholeSentence(reason: AnyReason, run?: Planned, most = Number.POSITIVE_INFINITY): string {
  const text = sentenceOf(reason, run).trim();
  const isWord = /^[a-z]+(?=[\s,;:]|$)/.test(text);
  const isOurs = isWord && !isBegunByName(text, reason, namesOf(run));
  const begun = isOurs ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  if (begun.length > most) return `${begun.slice(0, most - 1)}…`;
  return addStop(begun);
}

/** Fields that name nothing: a code, and what a person or another program said. */
const PROSE: ReadonlySet<string> = new Set(["code", "text", "said", "message"]);

/** Whether a sentence begins with something of its reason's data, as people know it: `payments` is never *Payments*. */
function isBegunByName(text: string, data: unknown, names: Names): boolean {
  if (typeof data === "string")
    return [data, names.cluster(data)].some((name) => name !== "" && /^(?!\w)/.test(text.slice(name.length)) && text.startsWith(name));
  if (typeof data !== "object" || data === null) return false;
  return Object.entries(data).some(([key, value]) => !PROSE.has(key) && isBegunByName(text, value, names));
}

/** Whether a text says a sentence already, by itself or within another. */
export function isToldIn(text: string, sentence: string): boolean {
  const bare = sentence.trim().replace(/\.$/, "").toLowerCase();
  return bare !== "" && text.toLowerCase().includes(bare);
}

/** What the registry knows of a reason besides its sentence. */
export function entryOf({ code }: AnyReason): Omit<Entry<never>, "says"> | undefined {
  return Object.hasOwn(REASONS, code) ? REASONS[code] : undefined;
}

/** The same for a place that draws no Markdown: commands and names stand without their marks. */
export function plainSentence(reason: AnyReason, run?: Planned): string {
  return withoutMarks(sentenceOf(reason, run));
}

/** Code is marked for those who draw Markdown alone. */
export function withoutMarks(text: string): string {
  return text.replace(/`([^`]+)`/g, "$1");
}
