/** The inside of a cell for tests: jobs that a cell is there for. */
import { writeSync } from "node:fs";
import { serveCell } from "../inside.ts";

const forever = (work: (step: number) => void): never => {
  for (let step = 0; ; step++) work(step);
};

await serveCell({
  echo: async (input) => input,
  ask: async (input, ask) => [ask("double", input), ask("double", 21)],
  fail: async (_input, ask) => ask("broken"),
  forbidden: async (_input, ask) => ask("toString"),
  loop: async () => forever(() => undefined),
  toldLoop: async () => {
    writeSync(1, "began");
    return forever(() => undefined);
  },
  backtrack: async () => /^(a|aa)+$/.test(`${"a".repeat(100)}b`),
  list: async () => {
    const all: unknown[] = [];
    return forever((step) => all.push({ step }));
  },
  longList: async () => new Array(200_000_000).fill(1).length,
  split: async () => "xy".repeat(250_000_000).split("").length,
  stopped: async () => {
    process.kill(process.pid, "SIGTERM");
    return forever(() => undefined);
  },
  buffers: async () => {
    const all: unknown[] = [];
    return forever(() => all.push(Buffer.alloc(20_000_000, 1)));
  },
  map: async () => {
    const all = new Map<string, number>();
    return forever((step) => all.set(`key ${step}`, step));
  },
});
