import { expect, test } from "vitest";
import { readPart, writePart } from "./part.ts";
import type { PinPart } from "./types.ts";

const DIGEST = `sha256:${"0".repeat(64)}`;
const OTHER = `sha256:${"1".repeat(64)}`;

const reads: [value: string, part: PinPart, found: string | null][] = [
  ["app:v1", "tag", "v1"],
  ["registry:5000/app", "tag", null],
  ["registry:5000/app:v1", "tag", "v1"],
  [`registry:5000/app@${DIGEST}`, "tag", null],
  [`registry:5000/app@${DIGEST}`, "digest", DIGEST],
  [`app:v1@${DIGEST}`, "tag", "v1"],
  [`app:v1@${DIGEST}`, "tag+digest", `v1@${DIGEST}`],
  [`app@${DIGEST}`, "tag+digest", `@${DIGEST}`],
  ["app", "tag+digest", null],
  ["{{ .Values.repository }}:develop", "tag", "develop"],
  ["https://github.com/o/r//base?ref=v1", "ref", "v1"],
  ["https://github.com/o/r?timeout=9&ref=a/b&x=1#f", "ref", "a/b"],
  ["https://github.com/o/r?xref=v1", "ref", null],
];
for (const [value, part, found] of reads) {
  test(`${part} of ${value.slice(0, 60)}`, () => expect(readPart(value, part)).toEqual({ ok: true, value: found }));
}

const writes: [value: string, part: PinPart, next: string, after: string][] = [
  ["registry:5000/app:v1", "tag", "v2", "registry:5000/app:v2"],
  ["registry:5000/app", "tag", "v2", "registry:5000/app:v2"],
  [`app:v1@${DIGEST}`, "digest", OTHER, `app:v1@${OTHER}`],
  [`app:v1@${DIGEST}`, "tag+digest", `v2@${OTHER}`, `app:v2@${OTHER}`],
  [`app:v1@${DIGEST}`, "tag+digest", "v2", "app:v2"],
  ["https://h/o/r?ref=v1&x=1", "ref", "v2", "https://h/o/r?ref=v2&x=1"],
  ["https://h/o/r?x=1", "ref", "v2", "https://h/o/r?x=1&ref=v2"],
  ["https://h/o/r#f", "ref", "v2", "https://h/o/r?ref=v2#f"],
];
for (const [value, part, next, after] of writes) {
  test(`${part} ${next.slice(0, 20)} into ${value.slice(0, 60)}`, () =>
    expect(writePart(value, part, next)).toEqual({ ok: true, value: after }));
}

const refusals: [value: string, part: PinPart, next: string][] = [
  ["app:v1", "tag", "v 2"],
  ["app:v1", "tag", "v/2"],
  [`app:v1@${DIGEST}`, "tag", "v2"],
  ["app:v1", "digest", "0".repeat(64)],
  ["app:v1", "tag+digest", ""],
  ["https://h/o/r:v1", "tag", "v2"],
  ["https://h/o/r?ref=v1", "ref", "a b"],
  ["https://h/o/r?ref=v1", "ref", "a&b"],
];
for (const [value, part, next] of refusals) {
  test(`${part} "${next.slice(0, 20)}" into ${value.slice(0, 40)} is refused`, () =>
    expect(writePart(value, part, next)).toMatchObject({ ok: false, error: { code: "PIN_PART" } }));
}
