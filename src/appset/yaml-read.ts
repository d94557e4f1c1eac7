import { LineCounter, parseAllDocuments, type Tags } from "yaml";

/** Room for anchors people write, none for an alias bomb. */
const MOST_ALIASES = 200;
/** YAML 1.1 types that Argo CD's parser leaves as text: timestamps and base-60 numbers; and those JSON cannot hold. */
const LEFT_AS_TEXT = new Set([
  "tag:yaml.org,2002:timestamp",
  "tag:yaml.org,2002:binary",
  "tag:yaml.org,2002:omap",
  "tag:yaml.org,2002:pairs",
  "tag:yaml.org,2002:set",
]);

function goTags(tags: Tags): Tags {
  return tags.filter((tag) => typeof tag === "string" || (!LEFT_AS_TEXT.has(tag.tag) && !("format" in tag && tag.format === "TIME")));
}

/**
 * Reads the first document of a YAML (or JSON) text as Argo CD's parser does: YAML 1.1 (`on` and `yes` are true, a leading
 * 0 is octal), numbers as JSON's, the last of equal keys wins.
 * @throws Error with line and column
 */
export function parseYaml(text: string): unknown {
  const start = text.trimStart();
  if (start.startsWith("{") || start.startsWith("[")) {
    const json = parseJson(text);
    if (json !== undefined) return json;
  }
  const document = readYamlDocuments(text)[0];
  if (document === undefined) return null;
  if (document.problem !== undefined) throw new Error(`${document.problem} at line ${document.line}, column ${document.column}`);
  return document.value;
}

/** One document of a YAML text: its value, or why there is none. */
export interface YamlDocument {
  value?: unknown;
  problem?: string;
  /** Where it begins, or where the problem is. */
  line: number;
  column: number;
}

/** Every document of a text, read as Argo CD reads YAML. Never throws. */
export function readYamlDocuments(text: string): YamlDocument[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    version: "1.1",
    customTags: goTags,
    uniqueKeys: false,
    logLevel: "silent",
    lineCounter: lines,
  });
  return [...documents].map((document) => {
    const error = document.errors[0];
    const { line, col: column } = lines.linePos(error?.pos[0] ?? document.contents?.range?.[0] ?? 0);
    if (error !== undefined)
      return { problem: (error.message.split("\n")[0] ?? "").replace(/ at line \d+, column \d+:$/, ""), line, column };
    try {
      return { value: document.toJS({ maxAliasCount: MOST_ALIASES }), line, column };
    } catch (cause) {
      return { problem: cause instanceof Error ? cause.message : "unknown reason", line, column };
    }
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
