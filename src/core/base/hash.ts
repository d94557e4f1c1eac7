import { sha256 as digest } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** SHA-256 of a text's UTF-8 bytes, in hex, without a platform's crypto: the core may load none. */
export function sha256(text: string): string {
  return bytesToHex(digest(utf8ToBytes(text)));
}

/** So many characters are encoded at once: each time costs more than a short text does. */
const AT_ONCE = 2 ** 16;

/** The same of a text that is made piece by piece. */
export function sha256OfParts(parts: Iterable<string>): string {
  const hash = digest.create();
  let text = "";
  for (const part of parts) {
    text += part;
    if (text.length < AT_ONCE) continue;
    hash.update(utf8ToBytes(text));
    text = "";
  }
  return bytesToHex(hash.update(utf8ToBytes(text)).digest());
}

/** JSON with the keys of every object in order and `undefined` left out: equal data gives equal text. */
export function canonicalJson(data: unknown): string {
  if (typeof data !== "object" || data === null) return JSON.stringify(data) ?? "null";
  if (Array.isArray(data)) return `[${data.map(canonicalJson).join(",")}]`;
  const parts: string[] = [];
  for (const key of Object.keys(data).sort()) {
    const value = (data as Record<string, unknown>)[key];
    if (value !== undefined) parts.push(`${JSON.stringify(key)}:${canonicalJson(value)}`);
  }
  return `{${parts.join(",")}}`;
}
