import { composeYaml } from "./compose.ts";
import type { PinDocument } from "./model.ts";
import { scanYaml } from "./scan.ts";
import { BAIL, type Cursor } from "./scan-cursor.ts";
import { scanFlow } from "./scan-flow.ts";
import { type Survey, surveyDocument } from "./survey.ts";
import { type Refused, refuse } from "./types.ts";

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

type Reading = { ok: true; documents: PinDocument[]; json: boolean; fast: boolean } | Refused;

const DEFAULT_MAX_BYTES = 10 * 1024 * 1024;

/** Reads a file. Errors: PIN_FILE_TOO_LARGE, PIN_FILE_NOT_YAML, PIN_ALIAS_BOMB. */
export function openPinFile(text: string, options: PinOptions = {}): { ok: true; file: PinFile } | Refused {
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  if (text.length > maxBytes || (text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes))
    return refuse("PIN_FILE_TOO_LARGE", { kind: "Bytes", most: maxBytes });
  const reading = readDocuments(text, options.format ?? "auto");
  if (!reading.ok) return reading;
  const surveys = reading.documents.map(surveyDocument);
  for (const { dangling, bomb } of surveys) {
    if (dangling !== undefined) return refuse("PIN_FILE_NOT_YAML", { kind: "Alias", alias: dangling.name }, text, dangling.start);
    if (bomb !== undefined) return refuse("PIN_ALIAS_BOMB", { alias: bomb.name }, text, bomb.start);
  }
  return { ok: true, file: { text, json: reading.json, fast: reading.fast, documents: reading.documents, surveys } };
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
    return refuse("PIN_FILE_TOO_LARGE", { kind: "Deep" });
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
  return refuse("PIN_FILE_NOT_YAML", { kind: helm ? "Helm" : "Yaml", said: composed.message }, text, composed.offset);
}

function readJson(text: string): Reading {
  try {
    JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return refuse("PIN_FILE_NOT_YAML", { kind: "Json", said }, text, Number(/position (\d+)/.exec(said)?.[1] ?? 0));
  }
  const start = /^\ufeff?\s*/.exec(text)?.[0].length ?? 0;
  const c: Cursor = { text, pos: start, indent: 0, lineStart: 0, stop: 0, depth: 0, json: true };
  const isCollection = text[start] === "{" || text[start] === "[";
  try {
    const root = isCollection ? scanFlow(c, start, -1) : undefined;
    return { ok: true, documents: [{ number: 1, root, end: text.length }], json: true, fast: true };
  } catch (error) {
    if (error !== BAIL) throw error;
    return refuse("PIN_FILE_NOT_YAML", { kind: "OddJson" });
  }
}
