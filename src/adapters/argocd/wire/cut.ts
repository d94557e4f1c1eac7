/**
 * Reads JSON and keeps only the parts that are asked for. The rest is skipped byte by byte and never becomes a value: a
 * credential does not get as far as a string, and what an Argo CD object carries besides (managed fields, resources,
 * history) costs no memory.
 */
import type { AnyReason } from "../../../core/base/reason.ts";
import { planeReason } from "../../../core/reasons/control-plane.ts";
import { livenessReason } from "../../../core/reasons/liveness.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";

/** Which keys of an object to keep: `false` drops, `true` keeps as it is, a shape goes in. `*`: all others (default keep). */
export interface Shape {
  readonly [key: string]: Shape | boolean;
}

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
  let room = Buffer.allocUnsafe(16_384);
  return (bytes) => {
    if (room.length < bytes.length) room = Buffer.allocUnsafe(Math.max(bytes.length, room.length * 2));
    const reader: Reader = { from: bytes, at: 0, into: room, length: 0 };
    space(reader);
    value(reader, shape);
    space(reader);
    if (reader.at !== bytes.length) throw broken(reader);
    const text = room.toString("utf8", 0, reader.length);
    if (room.length > MOST_KEPT_ROOM) room = Buffer.allocUnsafe(16_384);
    return JSON.parse(text) as unknown;
  };
}

function broken(reader: Reader): BadAnswer {
  return new BadAnswer(planeReason("ANSWER_BROKEN", { byte: reader.at }));
}

function value(reader: Reader, rule: Shape | true): void {
  const first = reader.from[reader.at];
  if (rule !== true && first === OPEN_OBJECT) object(reader, rule);
  else if (rule !== true && first === OPEN_LIST) items(reader, rule);
  else {
    const begin = reader.at;
    skip(reader, MOST_DEPTH);
    copy(reader, begin, reader.at);
  }
}

function object(reader: Reader, shape: Shape): void {
  byte(reader, OPEN_OBJECT);
  let kept = false;
  take(reader, OPEN_OBJECT);
  space(reader);
  while (reader.from[reader.at] !== CLOSE_OBJECT) {
    const begin = reader.at;
    const name = key(reader);
    const rule = (Object.hasOwn(shape, name) ? shape[name] : shape["*"]) ?? true;
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
function items(reader: Reader, shape: Shape): void {
  byte(reader, OPEN_LIST);
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

/** Past the comma, or up to the end. */
function more(reader: Reader, close: number): boolean {
  space(reader);
  if (reader.from[reader.at] === close) return false;
  take(reader, COMMA);
  space(reader);
  if (reader.from[reader.at] === close) throw broken(reader);
  return true;
}

function key(reader: Reader): string {
  const begin = reader.at;
  const escaped = text(reader);
  const raw = Buffer.from(reader.from.buffer, reader.from.byteOffset + begin, reader.at - begin);
  if (!escaped) return raw.toString("utf8", 1, raw.length - 1);
  return String(JSON.parse(raw.toString("utf8")));
}

/** Past a string; tells whether anything in it is escaped. */
function text(reader: Reader): boolean {
  take(reader, QUOTE);
  const { from } = reader;
  let { at } = reader;
  let escaped = false;
  for (;;) {
    const next = from[at];
    if (next === undefined) throw broken(reader);
    if (next === QUOTE) break;
    if (next === BACKSLASH) {
      escaped = true;
      at += 1;
    }
    at += 1;
  }
  reader.at = at + 1;
  return escaped;
}

/** Past one value, whatever it is. What is kept of it is judged by JSON.parse. */
function skip(reader: Reader, mostDepth: number): void {
  const { from } = reader;
  let depth = 0;
  do {
    const next = from[reader.at];
    if (next === undefined) throw broken(reader);
    if (next === QUOTE) text(reader);
    else {
      if (next === OPEN_OBJECT || next === OPEN_LIST) depth += 1;
      else if (next === CLOSE_OBJECT || next === CLOSE_LIST) depth -= 1;
      else if (depth === 0) {
        plain(reader);
        return;
      }
      if (depth < 0) throw broken(reader);
      if (depth > mostDepth) throw new TooDeep(livenessReason("NESTED_TOO_DEEP", { most: MOST_DEPTH }));
      reader.at += 1;
    }
  } while (depth > 0);
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

function copy(reader: Reader, begin: number, end: number): void {
  reader.into.set(reader.from.subarray(begin, end), reader.length);
  reader.length += end - begin;
}
