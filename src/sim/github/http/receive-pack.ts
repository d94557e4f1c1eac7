import type { Moved } from "../pulls/refs-moved.ts";

const ZERO = /^0+$/;

/** Reads the ref commands at the start of a push (pkt-lines up to the first flush) as they pass by; the pack behind them is not kept. */
export function commandReader(): { push(chunk: Buffer): void; commands(): Moved[] } {
  let data: Buffer = Buffer.alloc(0);
  let done = false;
  const found: Moved[] = [];

  function drain(): void {
    while (!done && data.length >= 4) {
      const length = Number.parseInt(data.toString("latin1", 0, 4), 16);
      if (Number.isNaN(length) || length === 0) {
        done = true;
        data = Buffer.alloc(0);
        return;
      }
      if (data.length < length) return;
      const command = parseCommand(data.toString("utf8", 4, length));
      if (command !== undefined) found.push(command);
      data = data.subarray(Math.max(length, 4));
    }
  }

  return {
    push(chunk) {
      if (done) return;
      data = Buffer.concat([data, chunk]);
      drain();
    },
    commands: () => found,
  };
}

function parseCommand(line: string): Moved | undefined {
  const [, old = "", next = "", ref] = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) ([^\0\n]+)/.exec(line) ?? [];
  if (ref === undefined) return undefined;
  return { ref, old: ZERO.test(old) ? undefined : old, new: ZERO.test(next) ? undefined : next };
}

/** The commands that the answer reports as `ok`. */
export function acceptedRefs(commands: readonly Moved[], answer: Buffer): Moved[] {
  const report = answer.toString("utf8");
  return commands.filter((command) => report.includes(`ok ${command.ref}\n`));
}
