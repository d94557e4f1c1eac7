import { sha256 } from "../base/hash.ts";
import { parseYaml } from "../base/yaml-read.ts";
import { type FunctionTable, fn, text } from "./functions.ts";
import {
  entry,
  GoInt,
  type GoMap,
  type GoValue,
  GoVersion,
  isMap,
  setEntry,
  sortedKeys,
  TemplateError,
  UnsupportedError,
} from "./value.ts";
import { dumpYaml } from "./yaml-dump.ts";

/** JSON as Go writes it: keys sorted; `<`, `>` and `&` escaped unless raw. */
function json(value: GoValue, indent: string | undefined, raw: boolean): string {
  const result = JSON.stringify(plain(value), null, indent) ?? "null";
  const escaped = result.replace(/[\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16)}`);
  return raw ? escaped : escaped.replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}

/** Data without Go's types, its keys in order. */
export function plain(value: GoValue): unknown {
  if (value === undefined || value === null) return null;
  if (value instanceof GoInt) return value.value;
  if (value instanceof GoVersion) throw new UnsupportedError("toJson", "a semver value cannot be encoded");
  if (Array.isArray(value)) return value.map(plain);
  if (!isMap(value)) return value;
  const result: GoMap = {};
  for (const key of sortedKeys(value)) setEntry(result, key, plain(entry(value, key)) as GoValue);
  return result;
}

function fromJson(value: string, must: boolean): GoValue {
  try {
    return JSON.parse(value) as GoValue;
  } catch (error) {
    if (must) throw new TemplateError(`error calling mustFromJson: ${error instanceof Error ? error.message : "not JSON"}`);
    return null;
  }
}

function yaml(value: string, name: string): GoValue {
  try {
    return parseYaml(value) as GoValue;
  } catch (error) {
    throw new TemplateError(`error calling ${name}: ${error instanceof Error ? error.message : "not YAML"}`);
  }
}

function fromYaml(value: string): GoValue {
  const parsed = yaml(value, "fromYaml") ?? {};
  if (!isMap(parsed)) throw new TemplateError("error calling fromYaml: the text is not a map");
  return parsed;
}

function fromYamlArray(value: string): GoValue {
  const parsed = yaml(value, "fromYamlArray") ?? [];
  if (!Array.isArray(parsed)) throw new TemplateError("error calling fromYamlArray: the text is not a list");
  return parsed;
}

function encode64(value: string): string {
  return btoa(Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte)).join(""));
}

/** sprig gives the decoder's complaint as the result. */
function decode64(value: string): string {
  const clean = value.replace(/[\r\n]/g, "");
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(clean))
    throw new UnsupportedError("b64dec", "b64dec was given text that is no base64");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(atob(clean), (char) => char.charCodeAt(0)));
  } catch {
    throw new UnsupportedError("b64dec", "b64dec of bytes that are no text is not supported");
  }
}

export const ENCODING_FUNCTIONS: FunctionTable = {
  toJson: fn("any", ([value]) => json(value, undefined, false)),
  mustToJson: fn("any", ([value]) => json(value, undefined, false)),
  toPrettyJson: fn("any", ([value]) => json(value, "  ", false)),
  mustToPrettyJson: fn("any", ([value]) => json(value, "  ", false)),
  toRawJson: fn("any", ([value]) => json(value, undefined, true)),
  mustToRawJson: fn("any", ([value]) => json(value, undefined, true)),
  fromJson: fn("string", (a) => fromJson(text(a, 0), false)),
  mustFromJson: fn("string", (a) => fromJson(text(a, 0), true)),
  toYaml: fn("any", ([value]) => dumpYaml(plain(value))),
  fromYaml: fn("string", (a) => fromYaml(text(a, 0))),
  fromYamlArray: fn("string", (a) => fromYamlArray(text(a, 0))),
  b64enc: fn("string", (a) => encode64(text(a, 0))),
  b64dec: fn("string", (a) => decode64(text(a, 0))),
  sha256sum: fn("string", (a) => sha256(text(a, 0))),
};
