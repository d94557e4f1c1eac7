import { composeYaml } from "./compose.ts";
import { type PinDocument, position } from "./model.ts";
import { scanYaml } from "./scan.ts";
import { BAIL, type Cursor } from "./scan-cursor.ts";
import { scanFlow } from "./scan-flow.ts";
import { type Survey, surveyDocument } from "./survey.ts";
import type { PinError } from "./types.ts";

export interface PinOptions {
  /** auto: JSON where the text is valid JSON that begins with `{` or `[`, otherwise YAML. */
  format?: "yaml" | "json" | "auto";
  /** Default 10 MiB. */
  maxBytes?: number;
}

/** A file that was read once; `locate` and `spliceFile` take it as often as needed. */
export interface PinFile {
  text: string;
  json: boolean;
  /** Read by the line scanner, not by the `yaml` package. */
  fast: boolean;
  documents: PinDocument[];
  surveys: Survey[];
}

export type Opened = { ok: true; file: PinFile } | { ok: false; error: PinError };
export type Reading = { ok: true; documents: PinDocument[]; json: boolean; fast: boolean } | { ok: false; error: PinError };

const DEFAULT_MAX_BYTES = 10 * 1024 * 1024;

/** Reads a file. Errors: PIN_FILE_TOO_LARGE, PIN_FILE_NOT_YAML, PIN_ALIAS_BOMB. */
export function openPinFile(text: string, options: PinOptions = {}): Opened {
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  if (text.length > maxBytes || (text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes)) {
    const message = `the file is larger than ${sizeOf(maxBytes)}`;
    return { ok: false, error: { code: "PIN_FILE_TOO_LARGE", message, hint: "Keep pins in a smaller file, one per cluster or stage." } };
  }
  const reading = readDocuments(text, options.format ?? "auto");
  if (!reading.ok) return reading;
  const surveys = reading.documents.map(surveyDocument);
  for (const survey of surveys) {
    const error = surveyError(text, survey);
    if (error !== undefined) return { ok: false, error };
  }
  return { ok: true, file: { text, json: reading.json, fast: reading.fast, documents: reading.documents, surveys } };
}

function sizeOf(bytes: number): string {
  return bytes % (1024 * 1024) === 0 ? `${bytes / 1024 / 1024} MiB` : `${bytes} bytes`;
}

function surveyError(text: string, survey: Survey): PinError | undefined {
  if (survey.dangling !== undefined) {
    const hint = "Define the anchor above the alias, or write the value out.";
    return {
      code: "PIN_FILE_NOT_YAML",
      message: `the alias *${survey.dangling.name} has no anchor`,
      hint,
      ...position(text, survey.dangling.start),
    };
  }
  if (survey.bomb === undefined) return undefined;
  const message = `the aliases (such as *${survey.bomb.name}) expand to far more than the file holds`;
  return {
    code: "PIN_ALIAS_BOMB",
    message,
    hint: "Write the values out instead of nesting aliases.",
    ...position(text, survey.bomb.start),
  };
}

/** The documents alone, unchecked: enough to verify a splice by. */
export function readDocuments(text: string, format: "yaml" | "json" | "auto"): Reading {
  try {
    const first = /^\ufeff?\s*([[{])(?!\{)/.exec(text.slice(0, 10_000));
    if (format === "json" || (format === "auto" && first !== null)) {
      const reading = readJson(text);
      if (reading.ok || format === "json") return reading;
    }
    return readYaml(text);
  } catch (error) {
    // Both a limit of ours and the engine's own, should the `yaml` package run out of stack first.
    if (!(error instanceof RangeError)) throw error;
    const hint = "No reader should have to follow that; flatten it.";
    return { ok: false, error: { code: "PIN_FILE_TOO_LARGE", message: "collections nest more than 200 levels deep", hint } };
  }
}

function readYaml(text: string): Reading {
  const fast = scanYaml(text);
  if (fast !== undefined) return { ok: true, documents: fast, json: false, fast: true };
  const composed = composeYaml(text);
  // The `yaml` package reports its own overflow as a mistake of the file.
  if (!Array.isArray(composed) && composed.message.includes("call stack")) throw new RangeError("nested too deep");
  if (Array.isArray(composed)) return { ok: true, documents: composed, json: false, fast: false };
  const helm = /\{\{-?\s*(?:[.$/"(]|if|else|end|range|with|include|define|template|toYaml|tpl|block|printf)/.test(text);
  const hint = helm ? "It is a Helm template; pin the value in the chart's values file instead." : "Mend the file first.";
  const message = helm ? `not YAML but a template (${composed.message})` : `not YAML: ${composed.message}`;
  return { ok: false, error: { code: "PIN_FILE_NOT_YAML", message, hint, ...position(text, composed.offset) } };
}

function readJson(text: string): Reading {
  try {
    JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    const message = `not JSON: ${error instanceof Error ? error.message : String(error)}`;
    const at = /position (\d+)/.exec(message)?.[1];
    return { ok: false, error: { code: "PIN_FILE_NOT_YAML", message, hint: "Mend the file first.", ...position(text, Number(at ?? 0)) } };
  }
  const start = /^\ufeff?\s*/.exec(text)?.[0].length ?? 0;
  const c: Cursor = { text, pos: start, indent: 0, lineStart: 0, stop: 0, depth: 0, json: true };
  const isCollection = text[start] === "{" || text[start] === "[";
  try {
    const root = isCollection ? scanFlow(c, start, -1) : undefined;
    return { ok: true, documents: [{ number: 1, root, end: text.length }], json: true, fast: true };
  } catch (error) {
    if (error !== BAIL) throw error;
    return { ok: false, error: { code: "PIN_FILE_NOT_YAML", message: "not JSON as this program reads it", hint: "Reformat the file." } };
  }
}
