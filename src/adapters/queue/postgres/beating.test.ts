import { expect, test } from "vitest";
import { silentLog } from "../../../engine/round/context.ts";
import { Beating } from "./beating.ts";

test("once it stops, nothing is begun of what was seen while the last work went on: its rows are given back", async () => {
  let works = 0;
  const gate = Promise.withResolvers<void>();
  const wakes: (() => void)[] = [];
  const after = (_ms: number, wake: () => void) => {
    wakes.push(wake);
    return () => undefined;
  };
  const heart = new Beating({
    membership: { beat: async () => ({}) } as never,
    work: () => (++works > 2 ? gate.promise : Promise.resolve()),
    ...{ time: { monotonic: () => 0, wall: () => 0, after }, log: silentLog, onRegained: () => undefined },
  });
  await heart.start();
  for (const beat of [1, 2]) {
    wakes.at(-1)?.();
    await new Promise(setImmediate);
    expect(wakes).toHaveLength(1 + beat);
  }
  const stopped = heart.stop();
  gate.resolve();
  await stopped;
  expect(works).toBe(3);
});
