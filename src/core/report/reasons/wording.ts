/**
 * How the tables of the report say a reason. A wording is a text with holes for the reason's data: "{batch} is merged: {pull}[ by {by}]".
 * What stands in square brackets falls away where data of it are absent, empty or none, or gives way to what stands behind a bar: "[{to}|nothing]".
 * Where a field decides how it is said, the wording is a table by that field: `{ again: { true: "…", false: "…" } }`. Whatever more it takes is
 * a function.
 */
import type { AnyReason } from "../../base/reason.ts";
import { formatDuration } from "../../base/time.ts";
import type { AnalysisRef, BatchRef, HookRef, PullRef, SourceNamed } from "../../reasons/refs.ts";
import type { NextStepRef, WaitRef } from "../../reasons/stages.ts";
import { type Counting, inCounted } from "../counted.ts";
import {
  addStop,
  analysisPhrase,
  batchPhrase,
  hookPhrase,
  type Names,
  nextStepPhrase,
  pullPhrase,
  sourcePhrase,
  waitPhrase,
} from "./phrases.ts";

type Sentence<Reason> = string | ((reason: Reason, names: Names) => string);

export type Wording<Reason> = Sentence<Reason> | ByField<Reason>;

/** A sentence for each value of one field. */
type ByField<Reason> = {
  readonly [Field in KeysOf<Reason>]?: { readonly [Value in Values<Reason, Field>]: Sentence<With<Reason, Field, Value>> };
};

type KeysOf<Reason> = Reason extends unknown ? keyof Reason & string : never;
type Plain = string | number | boolean;
type Values<Reason, Field> = Reason extends unknown ? (Field extends keyof Reason ? `${Extract<Reason[Field], Plain>}` : never) : never;
type With<Reason, Field, Value> = Reason extends unknown
  ? Field extends keyof Reason
    ? Value extends `${Extract<Reason[Field], Plain>}`
      ? Reason
      : never
    : never
  : never;

type Holes<Text> = Text extends `${string}{${infer Hole}}${infer Rest}` ? Word<Hole> | Holes<Rest> : never;
type Word<Hole> = Hole extends "" | `${string}${" " | "." | "{"}${string}` ? never : Hole;
type HolesOf<Said> = Said extends string ? Holes<Said> : Said extends object ? HolesBelow<Said[keyof Said]> : never;
type HolesBelow<Sentences> = Sentences extends object ? Holes<Sentences[keyof Sentences]> : never;

/** The compiler's word where a wording has a hole for what is no field of its code. */
export type Filled<Said, Reason> = HolesOf<Said> extends KeysOf<Reason> ? unknown : { noSuchField: Exclude<HolesOf<Said>, KeysOf<Reason>> };

/** What stands for data of these fields; of others it is the text, the number, the list or the reason itself. */
const PHRASES: Readonly<Record<string, (data: never, names: Names) => string>> = {
  batch: (batch: BatchRef) => batchPhrase(batch),
  pull: (pull: PullRef) => pullPhrase(pull),
  analysis: (analysis: AnalysisRef, names) => analysisPhrase(analysis, names),
  hook: (hook: HookRef) => hookPhrase(hook),
  cluster: (key: string, names) => names.cluster(key),
  clusters: (keys: readonly string[], names) => names.clusters(keys),
  others: (keys: readonly string[], names) => names.clusters(keys),
  source: (source: SourceNamed) => sourcePhrase(source),
  commit: (id: string) => id.slice(0, 10),
  head: (id: string) => id.slice(0, 10),
  wait: (wait: WaitRef) => waitPhrase(wait),
  after: (next: NextStepRef) => nextStepPhrase(next),
  forMs: (ms: number) => formatDuration(ms),
};

/** Says a reason by its wording. Data that do not fit it are an error. */
export function sayWording(wording: Wording<never>, reason: AnyReason, names: Names): string {
  const { targetBy = names.targetBy } = reason as Counting;
  return inCounted(say(wording, reason, names), { targetBy });
}

function say(wording: Wording<never>, reason: AnyReason, names: Names): string {
  if (typeof wording === "function") return wording(reason as never, names);
  if (typeof wording === "string") return fill(wording, reason, names);
  for (const [field, sentences] of Object.entries<Readonly<Record<string, Wording<never>>>>(wording)) {
    const chosen = sentences[String(reason[field])];
    if (chosen !== undefined) return say(chosen, reason, names);
  }
  throw new Error(`nothing is said of ${JSON.stringify(reason)}`);
}

function fill(text: string, reason: AnyReason, names: Names): string {
  return text
    .replaceAll(/\[([^\][|]*\{\w+\}[^\][|]*)(?:\|([^\][]*))?\]/g, (_, part: string, otherwise = "") =>
      lacksData(part, reason) ? otherwise : part,
    )
    .replaceAll(/\{(\w+)\}(\.(?=\s|$))?/g, (_, field: string, stop = "") => {
      const said = phrase(field, reason[field], names);
      return stop === "" ? said : addStop(said);
    });
}

function lacksData(part: string, reason: AnyReason): boolean {
  return [...part.matchAll(/\{(\w+)\}/g)].some(([, field = ""]) => {
    const data = reason[field];
    return data === undefined || data === "" || data === 0 || (Array.isArray(data) && data.length === 0);
  });
}

function phrase(field: string, data: unknown, names: Names): string {
  const said = Object.hasOwn(PHRASES, field) ? PHRASES[field] : undefined;
  if (said !== undefined) return said(data as never, names);
  if (typeof data === "number" || typeof data === "string") return String(data);
  if (Array.isArray(data)) return data.map((one) => phrase("", one, names)).join(", ");
  return names.because(data as AnyReason);
}
