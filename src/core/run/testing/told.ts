import type { AnyReason } from "../../base/reason.ts";
import { sentenceOf } from "../../report/reasons/say.ts";
import type { Run } from "../state/run.ts";

/** A copy with a sentence in place of every reason, as the reports of the run say it. */
export function told<T>(value: T, run?: Run): T {
  return said(value, run ?? (isRun(value) ? value : undefined)) as T;
}

function said(value: unknown, run: Run | undefined): unknown {
  if (typeof value === "string") return sentenceOf(value, run);
  if (typeof value !== "object" || value === null || value instanceof Map || value instanceof Set) return value;
  if (Array.isArray(value)) return value.map((one) => said(one, run));
  if ("code" in value && typeof value.code === "string") return sentenceOf(value as AnyReason, run);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, said(one, run)]));
}

function isRun(value: unknown): value is Run {
  return typeof value === "object" && value !== null && "plan" in value && "batches" in value;
}
