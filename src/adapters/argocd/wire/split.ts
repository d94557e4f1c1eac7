/** Takes long answers apart as they come in, so that none is ever held whole. */
import { planeReason } from "../../../core/reasons/control-plane.ts";
import { BadAnswer } from "./cut.ts";

/** An object larger than this is none that Kubernetes could store; whoever sends one is not to be read. */
const MOST_OBJECT_BYTES = 16 << 20;
const MOST_ENVELOPE_BYTES = 1 << 20;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

interface Splitter {
  push(chunk: Buffer): void;
  /** Call after the last chunk. */
  end(): void;
}

/** Bytes of one piece that may lie in several chunks. */
function gatherer(most: number, what: "event" | "object") {
  let held: Buffer[] = [];
  let size = 0;
  return {
    add(bytes: Buffer): void {
      size += bytes.length;
      if (size > most) throw new BadAnswer(planeReason("ANSWER_TOO_LARGE", { what, most }));
      // The chunk's memory is the socket's: kept only for as long as the piece lasts.
      if (bytes.length > 0) held.push(bytes);
    },
    take(): Buffer {
      const [first] = held;
      const whole = held.length === 1 && first !== undefined ? first : Buffer.concat(held, size);
      held = [];
      size = 0;
      return whole;
    },
    isEmpty: () => size === 0,
  };
}

/** One line a piece, as watches and streams send them. Empty lines are left out. `line` must not keep the bytes. */
export function createLineSplitter(line: (bytes: Buffer) => void): Splitter {
  const rest = gatherer(MOST_OBJECT_BYTES, "event");
  return {
    push(chunk) {
      let from = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
        rest.add(chunk.subarray(from, end));
        from = end + 1;
        if (!rest.isEmpty()) line(rest.take());
      }
      rest.add(chunk.subarray(from));
    },
    end() {
      if (!rest.isEmpty()) line(rest.take());
    },
  };
}

/**
 * The objects in `items` of one JSON object, each as it is complete; `item` must not keep the bytes. `envelope` has
 * the answer without them after `end`, which throws BadAnswer where the answer broke off.
 */
export function createListSplitter(item: (bytes: Buffer) => void): Splitter & { envelope(): unknown } {
  const piece = gatherer(MOST_OBJECT_BYTES, "object");
  const envelope: number[] = [];
  let depth = 0;
  let inString = false;
  let escaped = false;
  let inItems = false;
  let inItem = false;

  const outside = (next: number): void => (!inItems || depth < 2 ? addTo(envelope, next) : undefined);

  /** Returns from where on the chunk still belongs to an unfinished object. */
  function scan(chunk: Buffer): number {
    let from = 0;
    for (let i = 0; i < chunk.length; i++) {
      const next = chunk[i] ?? 0;
      if (inString) {
        if (!inItem) outside(next);
        if (escaped) escaped = false;
        else if (next === BACKSLASH) escaped = true;
        else if (next === QUOTE) inString = false;
        continue;
      }
      if (next === QUOTE) inString = true;
      if (next === OPEN_OBJECT || next === OPEN_LIST) {
        if (next === OPEN_LIST && !inItems && depth === 1 && opensItems(envelope)) {
          outside(next);
          inItems = true;
          depth += 1;
          continue;
        }
        if (inItems && depth === 2 && next === OPEN_OBJECT) {
          inItem = true;
          from = i;
        }
        depth += 1;
      } else if (next === CLOSE_OBJECT || next === CLOSE_LIST) {
        depth -= 1;
        if (inItem && depth === 2) {
          piece.add(chunk.subarray(from, i + 1));
          inItem = false;
          item(piece.take());
          continue;
        }
        if (inItems && depth === 1) inItems = false;
      }
      if (!inItem) outside(next);
    }
    return from;
  }

  return {
    push(chunk) {
      const from = scan(chunk);
      if (inItem) piece.add(chunk.subarray(from));
    },
    end() {
      if (depth !== 0 || inString || envelope.length === 0) throw new BadAnswer(planeReason("ANSWER_BROKEN", {}));
    },
    envelope: () => JSON.parse(Buffer.from(envelope).toString("utf8")) as unknown,
  };
}

function addTo(envelope: number[], next: number): void {
  if (envelope.length >= MOST_ENVELOPE_BYTES)
    throw new BadAnswer(planeReason("ANSWER_TOO_LARGE", { what: "head", most: MOST_ENVELOPE_BYTES }));
  envelope.push(next);
}

/** Whether the list that opens here is the value of `items`. */
function opensItems(envelope: readonly number[]): boolean {
  return /"items"\s*:\s*$/.test(String.fromCharCode(...envelope.slice(-40)));
}
