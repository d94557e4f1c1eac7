import { parseAllDocuments, type Tags } from "yaml";

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
  const document = parseAllDocuments(text, { version: "1.1", customTags: goTags, uniqueKeys: false, logLevel: "silent" })[0];
  if (document === undefined) return null;
  const error = document.errors[0];
  if (error !== undefined) throw new Error((error.message.split("\n")[0] ?? "").replace(/:$/, ""));
  return document.toJS({ maxAliasCount: MOST_ALIASES });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
