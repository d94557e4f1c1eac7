/**
 * Reads JSON and keeps only the parts that are asked for. The rest is skipped byte by byte and never becomes a value: a
 * credential does not get as far as a string, and what an Argo CD object carries besides (managed fields, resources,
 * history) costs no memory.
 */
import type { AnyReason } from "../../../core/base/reason.ts";
import { planeReason } from "../../../core/reasons/control-plane.ts";
import { livenessReason } from "../../../core/reasons/liveness.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { type Rule, ruleOf, type Shape } from "./shape.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
/** Deeper than any manifest; comparing what is kept goes down recursively. What is dropped may be of any depth. */
const MOST_DEPTH = 200;
const MOST_KEPT_ROOM = 1 << 20;

interface Reader {
  from: Uint8Array;
  at: number;
  into: Buffer;
  length: number;
}

/** What came is not what was asked for, and why. */
export class BadAnswer extends SyntaxError {
  override name = "BadAnswer";
  readonly reason: AnyReason;
  constructor(reason: AnyReason) {
    super(sentenceOf(reason));
    this.reason = reason;
  }
}

/** Well-formed as far as it goes, and deeper than anything that is kept may be. */
export class TooDeep extends BadAnswer {
  override name = "TooDeep";
}

/**
 * A reader of one shape; it may be used again and again, and keeps nothing of what it was given. The reader throws
 * SyntaxError where the bytes are no JSON, TooDeep where something that is kept is nested too deeply.
 */
export function createCutter(shape: Shape): (bytes: Uint8Array) => unknown {
  const rule = ruleOf(shape);
  let room = Buffer.allocUnsafe(16_384);
  return (bytes) => {
    if (room.length < bytes.length) room = Buffer.allocUnsafe(Math.max(bytes.length, room.length * 2));
    const reader: Reader = { from: bytes, at: 0, into: room, length: 0 };
    space(reader);
    value(reader, rule);
    space(reader);
    if (reader.at !== bytes.length) throw broken(reader);
    const text = room.toString("utf8", 0, reader.length);
    if (room.length > MOST_KEPT_ROOM) room = Buffer.allocUnsafe(16_384);
    return JSON.parse(text) as unknown;
  };
}

function broken(reader: Reader): BadAnswer {
  return brokenAt(reader.at);
}

function brokenAt(byte: number): BadAnswer {
  return new BadAnswer(planeReason("ANSWER_BROKEN", { byte }));
}

function value(reader: Reader, rule: Rule | boolean): void {
  const first = reader.from[reader.at];
  if (typeof rule !== "boolean" && first === OPEN_OBJECT) object(reader, rule);
  else if (typeof rule !== "boolean" && first === OPEN_LIST) items(reader, rule);
  else {
    const begin = reader.at;
    skip(reader, MOST_DEPTH);
    copy(reader, begin, reader.at);
  }
}

function object(reader: Reader, shape: Rule): void {
  byte(reader, OPEN_OBJECT);
  let kept = false;
  take(reader, OPEN_OBJECT);
  space(reader);
  while (reader.from[reader.at] !== CLOSE_OBJECT) {
    const begin = reader.at;
    const rule = ruleOfKey(reader, shape);
    const end = reader.at;
    space(reader);
    take(reader, COLON);
    space(reader);
    if (rule === false) skip(reader, Number.POSITIVE_INFINITY);
    else {
      if (kept) byte(reader, COMMA);
      kept = true;
      copy(reader, begin, end);
      byte(reader, COLON);
      value(reader, rule);
    }
    if (!more(reader, CLOSE_OBJECT)) break;
  }
  take(reader, CLOSE_OBJECT);
  byte(reader, CLOSE_OBJECT);
}

/** A shape for a list is that of each of its objects. */
function items(reader: Reader, shape: Rule): void {
  byte(reader, OPEN_LIST);
  if (shape.seldom !== undefined && isWithout(reader, shape.seldom)) {
    byte(reader, CLOSE_LIST);
    return;
  }
  take(reader, OPEN_LIST);
  space(reader);
  let first = true;
  while (reader.from[reader.at] !== CLOSE_LIST) {
    if (!first) byte(reader, COMMA);
    first = false;
    if (reader.from[reader.at] === OPEN_OBJECT) object(reader, shape);
    else value(reader, true);
    if (!more(reader, CLOSE_LIST)) break;
  }
  take(reader, CLOSE_LIST);
  byte(reader, CLOSE_LIST);
}

/** Whether nothing in the value matches; then past it. */
function isWithout(reader: Reader, wanted: RegExp): boolean {
  const { from, at: begin } = reader;
  skip(reader, Number.POSITIVE_INFINITY);
  const bytes = Buffer.from(from.buffer, from.byteOffset + begin, reader.at - begin);
  // One look for all of them, at a character a byte: a text of UTF-8 would have to be decoded.
  if (!wanted.test(bytes.toString("latin1"))) return true;
  reader.at = begin;
  return false;
}

/** Past the comma, or up to the end. */
function more(reader: Reader, close: number): boolean {
  space(reader);
  if (reader.from[reader.at] === close) return false;
  take(reader, COMMA);
  space(reader);
  if (reader.from[reader.at] === close) throw broken(reader);
  return true;
}

/** Past a key; says what is to become of its value. */
function ruleOfKey(reader: Reader, { keys, others }: Rule): Rule | boolean {
  const { from, at: begin } = reader;
  text(reader);
  const { at: end } = reader;
  let escaped = false;
  for (let at = begin; at < end; at++) escaped ||= from[at] === BACKSLASH;
  if (escaped) {
    const name: unknown = JSON.parse(Buffer.from(from.subarray(begin, end)).toString("utf8"));
    return keys.find((one) => one.name === name)?.rule ?? others;
  }
  for (const { bytes, rule } of keys) if (bytes.length === end - begin - 2 && standsAt(bytes, from, begin + 1)) return rule;
  return others;
}

function text(reader: Reader): void {
  take(reader, QUOTE);
  reader.at = pastText(reader, reader.at);
}

function standsAt(bytes: Uint8Array, from: Uint8Array, begin: number): boolean {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== from[begin + i]) return false;
  return true;
}

/** Past one value, whatever it is. What is kept of it is judged by JSON.parse. */
function skip(reader: Reader, mostDepth: number): void {
  const { from } = reader;
  const first = from[reader.at];
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) {
    if (first === QUOTE) text(reader);
    else plain(reader);
    return;
  }
  let { at } = reader;
  let depth = 0;
  do {
    const next = from[at++];
    if (next === QUOTE) at = pastText(reader, at);
    else if (next === OPEN_OBJECT || next === OPEN_LIST) depth += 1;
    else if (next === CLOSE_OBJECT || next === CLOSE_LIST) depth -= 1;
    else if (next === undefined) throw brokenAt(at - 1);
    if (depth > mostDepth) throw new TooDeep(livenessReason("NESTED_TOO_DEEP", { most: MOST_DEPTH }));
  } while (depth > 0);
  reader.at = at;
}

/** The place after the text that goes on at `at`. */
function pastText({ from }: Reader, begin: number): number {
  let at = begin;
  for (let next = from[at]; next !== QUOTE; next = from[at]) {
    if (next === undefined) throw brokenAt(at);
    at += next === BACKSLASH ? 2 : 1;
  }
  return at + 1;
}

/** Past a number, true, false or null. */
function plain(reader: Reader): void {
  const begin = reader.at;
  for (;;) {
    const next = reader.from[reader.at];
    if (next === undefined || next === COMMA || next === CLOSE_OBJECT || next === CLOSE_LIST || next <= 0x20) break;
    reader.at += 1;
  }
  if (reader.at === begin) throw broken(reader);
}

function space(reader: Reader): void {
  for (;;) {
    const next = reader.from[reader.at];
    if (next !== 0x20 && next !== 0x0a && next !== 0x0d && next !== 0x09) return;
    reader.at += 1;
  }
}

function take(reader: Reader, wanted: number): void {
  if (reader.from[reader.at] !== wanted) throw broken(reader);
  reader.at += 1;
}

function byte(reader: Reader, one: number): void {
  reader.into[reader.length] = one;
  reader.length += 1;
}

/** Most of what is kept is short, for which a view of it costs more than its bytes one by one. */
const SHORT = 64;

function copy(reader: Reader, begin: number, end: number): void {
  const { from, into } = reader;
  let { length } = reader;
  if (end - begin > SHORT) into.set(from.subarray(begin, end), length);
  else for (let at = begin; at < end; at++) into[length++] = from[at] ?? 0;
  reader.length += end - begin;
}
