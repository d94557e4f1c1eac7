/** Messages between a cell and who started it: a length, then the value as a structured clone. */
import { deserialize, serialize } from "node:v8";

/** What the cell is told: a job, or what it asked. */
export type Told = { job: string; input: unknown } | { answer: unknown } | { error: Thrown };
/** What it says: that it has begun, a question, or how the job ended. `heap`: what it keeps, in bytes. */
export type Said =
  | { ready: true }
  | { ask: string; args: readonly unknown[] }
  | { done: unknown; heap: number }
  | { failed: string; heap: number };

/** An error as it crosses: enough for who catches it to tell one kind from another. */
export interface Thrown {
  name: string;
  message: string;
  kind?: unknown;
  status?: unknown;
  bytes?: unknown;
}

export function thrownOf(error: unknown): Thrown {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message } = error;
  const { kind, status, bytes } = error as Partial<Thrown>;
  return { name, message, kind, status, bytes };
}

/** Descriptors of their own: Node makes standard input one that cannot be waited for as soon as anybody looks at it. */
export const CELL_IN = 3;
export const CELL_OUT = 4;
/** Nobody writes to it: it ends with who started the cell. */
export const CELL_LIFE = 5;

export const HEADER = 4;

export function encode(message: Told | Said): Buffer {
  const body = serialize(message);
  const frame = Buffer.allocUnsafe(HEADER + body.length);
  frame.writeUInt32LE(body.length, 0);
  body.copy(frame, HEADER);
  return frame;
}

export function decode<T extends Told | Said>(body: Buffer): T {
  return deserialize(body) as T;
}

/** Puts frames together from what a pipe brings. @throws RangeError where one is larger than anybody sends */
export function frameReader(most: number, onFrame: (body: Buffer) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let held = 0;
  return (chunk) => {
    chunks.push(chunk);
    held += chunk.length;
    for (;;) {
      if (held < HEADER) return;
      if ((chunks[0]?.length ?? 0) < HEADER) chunks = [Buffer.concat(chunks)];
      const length = chunks[0]?.readUInt32LE(0) ?? 0;
      if (length > most) throw new RangeError(`a message of ${length} bytes`);
      if (held < HEADER + length) return;
      const whole = Buffer.concat(chunks);
      held -= HEADER + length;
      chunks = [whole.subarray(HEADER + length)];
      onFrame(whole.subarray(HEADER, HEADER + length));
    }
  };
}
