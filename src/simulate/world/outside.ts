import { said } from "../../core/reasons/run.ts";
import type { ObservedAnalysis } from "../../core/run/state/analysis-types.ts";
import { type HookAnswer, hookTryKey } from "../../core/run/state/hooks-types.ts";
import type { Measure, ModelOutside, Reply } from "../generate/scenario.ts";

/** One analysis while its engine knows of it. */
interface Measuring {
  id: string;
  startedAt: number;
  endsAt: number;
  ends: Measure["ends"];
  stoppedAt?: number;
}

interface Asked {
  at: number;
  answersAt: number;
  says: Reply["says"];
}

/** What was truly measured in a place, or answered by a hook: kept for ever, to judge runs by. */
export interface Finding {
  startedAt: number;
  at: number;
  says: Measure["ends"] | Reply["says"];
}

/** The engine that measures and the hooks that are asked: what the process remembers of them, and what truly was. */
export interface Outside {
  model: ModelOutside;
  seed: number;
  measuring: Map<string, Measuring>;
  asked: Map<string, Asked>;
  /** By `placeOf`. */
  findings: Map<string, Finding[]>;
  /** How often it was begun anew: another draw. */
  lives: number;
  /** When something of it ends or is answered. */
  due: number[];
}

export const WELL: ModelOutside = { measures: [], replies: [], forgets: false };

const PROMPT: Measure = { forMs: 15_000, ends: "Successful" };
const YES: Reply = { afterMs: 1000, says: "go" };
/** After which a caller gives up. */
const SILENCE_MS = 10_000;
const HOLD_MS = 300_000;
const INTERVAL_MS = 10_000;

export function outsideOf(model: ModelOutside, seed: number): Outside {
  return { model, seed, measuring: new Map(), asked: new Map(), findings: new Map(), lives: 0, due: [] };
}

/** The id of an analysis without its attempt; of a hook's event likewise. */
function placeOf(id: string): string {
  const parts = id.split("/");
  // ROLLOUT/RUN/STAGE/BATCH/WHEN/ATTEMPT and, of one cluster, its key.
  return parts.toSpliced(5, 1).join("/");
}

function draw<T>(list: readonly T[], key: string, seed: number): T | undefined {
  if (list.length === 0) return undefined;
  let hash = (seed ^ 0x811c9dc5) >>> 0;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193) >>> 0;
  return list[(hash ^ (hash >>> 15)) % list.length];
}

/** Asking for the same one twice begins it once. `endless`: it may measure until it is told to stop. */
export function startMeasuring(outside: Outside, id: string, endless: boolean, now: number): void {
  if (outside.measuring.has(id)) return;
  const drawn = draw(outside.model.measures, `${id} ${outside.lives}`, outside.seed) ?? PROMPT;
  const ends = drawn.ends === "Endless" && !endless ? "Successful" : drawn.ends;
  const endsAt = ends === "Endless" ? Number.POSITIVE_INFINITY : now + drawn.forMs;
  outside.measuring.set(id, { id, startedAt: now, endsAt, ends });
  if (Number.isFinite(endsAt)) outside.due.push(endsAt);
}

/** Nothing has failed until then. */
export function stopMeasuring(outside: Outside, id: string, now: number): void {
  const one = outside.measuring.get(id);
  if (one === undefined || one.endsAt <= now) return;
  one.ends = "Successful";
  one.endsAt = now;
  one.stoppedAt = now;
}

function find(outside: Outside, place: string, finding: Finding): void {
  const list = outside.findings.get(place) ?? [];
  if (!list.some((one) => one.startedAt === finding.startedAt && one.at === finding.at)) list.push(finding);
  outside.findings.set(place, list);
}

/** As its engine shows it; undefined: it knows of none. */
export function observeMeasuring(outside: Outside, id: string, now: number): ObservedAnalysis | undefined {
  const one = outside.measuring.get(id);
  if (one === undefined) return undefined;
  const count = now - one.startedAt >= INTERVAL_MS ? 1 : 0;
  const metric = { name: "up", phase: "Running", count, successful: count, failed: 0, inconclusive: 0, error: 0 };
  if (now < one.endsAt || one.ends === "Endless") {
    const running: ObservedAnalysis = { phase: "Running", message: said("it is measured"), metrics: [metric] };
    return one.ends === "Endless" ? { ...running, endless: true } : running;
  }
  find(outside, placeOf(id), { startedAt: one.startedAt, at: one.endsAt, says: one.ends });
  return { phase: one.ends, message: said(`it ended as ${one.ends}`), metrics: [{ ...metric, phase: one.ends, count: 1 }] };
}

/** Makes one request; the same one twice is made once. */
export function ask(outside: Outside, id: string, request: number, now: number): void {
  const key = hookTryKey(id, request);
  if (outside.asked.has(key)) return;
  const { afterMs, says } = draw(outside.model.replies, `${key} ${outside.lives}`, outside.seed) ?? YES;
  const answersAt = now + (says === "silent" ? SILENCE_MS : afterMs);
  outside.asked.set(key, { at: now, answersAt, says });
  outside.due.push(answersAt);
}

export function observeAnswer(outside: Outside, id: string, request: number, now: number): HookAnswer | undefined {
  const one = outside.asked.get(hookTryKey(id, request));
  if (one === undefined || now < one.answersAt) return undefined;
  find(outside, placeOf(id), { startedAt: one.at, at: one.answersAt, says: one.says });
  switch (one.says) {
    case "go":
    case "fail":
      return { kind: one.says, message: "" };
    case "hold":
      return { kind: "hold", message: "not now", forMs: HOLD_MS };
    case "error":
      return { kind: "error", message: said("404"), again: false };
    case "silent":
      return { kind: "error", message: said("no answer within 10s"), again: true };
  }
}

/** When things were due that are over need not be known any more. */
export function tidyOutside(outside: Outside, now: number): void {
  if (outside.due.length > 8) outside.due = outside.due.filter((at) => at > now);
}

/** The process dies: answers under way are lost with it, and what an engine inside of it measured. */
export function dieOutside(outside: Outside): void {
  outside.lives += 1;
  outside.asked.clear();
  if (outside.model.forgets) outside.measuring.clear();
}
