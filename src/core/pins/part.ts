import { replaceBraces } from "../base/braces.ts";
import { type PinPart, type Refused, refuse } from "./types.ts";

type PartResult<T> = { ok: true; value: T } | Refused;

/** Where an image reference's pieces stand: `name[:tag][@digest]`. A registry's port is not a tag. */
interface ImageReference {
  name: string;
  tag: string | null;
  digest: string | null;
}

function parseImage(value: string): ImageReference | undefined {
  if (value === "" || /\s/.test(replaceBraces(value, "")) || value.includes("://")) return undefined;
  const at = value.indexOf("@");
  const digest = at === -1 ? null : value.slice(at + 1);
  const front = at === -1 ? value : value.slice(0, at);
  const colon = front.lastIndexOf(":");
  // The colon of `registry:5000/app` comes before the last slash.
  const tagged = colon > front.lastIndexOf("/") && !(front.lastIndexOf("}}") > colon && front.lastIndexOf("{{") < colon);
  const name = tagged ? front.slice(0, colon) : front;
  if (name === "") return undefined;
  return { name, tag: tagged ? front.slice(colon + 1) : null, digest };
}

function printImage(image: ImageReference): string {
  return `${image.name}${image.tag === null ? "" : `:${image.tag}`}${image.digest === null ? "" : `@${image.digest}`}`;
}

const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const DIGEST = /^[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-fA-F]{32,}$/;

/**
 * One part of a value: the tag or digest (or `tag@digest`) of an image reference, or the `ref` of a URL's query, as written.
 * null: the value has no such part. Error: PIN_PART, where the value is no image reference.
 */
export function readPart(value: string, part: PinPart): PartResult<string | null> {
  if (part === "ref") {
    const found = /[?&]ref=([^&#]*)/.exec(value)?.[1];
    return { ok: true, value: found === undefined || found === "" ? null : found };
  }
  const image = parseImage(value);
  if (image === undefined) return refuse("PIN_PART", { kind: "NoImage", given: value });
  if (part === "tag") return { ok: true, value: image.tag };
  if (part === "digest") return { ok: true, value: image.digest };
  if (image.tag === null && image.digest === null) return { ok: true, value: null };
  return { ok: true, value: `${image.tag ?? ""}${image.digest === null ? "" : `@${image.digest}`}` };
}

/** The value with one part replaced, or added where it is absent. Everything else of it stays as it is. Error: PIN_PART. */
export function writePart(value: string, part: PinPart, next: string): PartResult<string> {
  if (part === "ref") return writeRef(value, next);
  const image = parseImage(value);
  if (image === undefined) return refuse("PIN_PART", { kind: "NoImage", given: value });
  if (part === "tag") {
    if (!TAG.test(next)) return refuse("PIN_PART", { kind: "Tag", given: next });
    if (image.digest !== null && next !== image.tag) return refuse("PIN_PART", { kind: "DigestWins" });
    return { ok: true, value: printImage({ ...image, tag: next }) };
  }
  if (part === "digest") {
    if (!DIGEST.test(next)) return refuse("PIN_PART", { kind: "Digest", given: next });
    return { ok: true, value: printImage({ ...image, digest: next }) };
  }
  const [tag = "", digest, more] = next.split("@");
  if ((tag !== "" && !TAG.test(tag)) || (digest !== undefined && !DIGEST.test(digest)) || more !== undefined || next === "")
    return refuse("PIN_PART", { kind: "TagDigest", given: next });
  return { ok: true, value: printImage({ name: image.name, tag: tag === "" ? null : tag, digest: digest ?? null }) };
}

function writeRef(value: string, next: string): PartResult<string> {
  if (next === "" || /[\s&#?]/.test(next)) return refuse("PIN_PART", { kind: "Ref", given: next });
  const found = /([?&]ref=)[^&#]*/.exec(value);
  if (found !== null) {
    const start = found.index + (found[1]?.length ?? 0);
    return { ok: true, value: value.slice(0, start) + next + value.slice(found.index + found[0].length) };
  }
  const hash = value.indexOf("#");
  const front = hash === -1 ? value : value.slice(0, hash);
  return { ok: true, value: `${front}${front.includes("?") ? "&" : "?"}ref=${next}${hash === -1 ? "" : value.slice(hash)}` };
}
