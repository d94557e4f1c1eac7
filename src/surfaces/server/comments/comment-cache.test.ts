import { expect, test } from "vitest";
import type { Comment, Forge } from "../../../adapters/forge/port.ts";
import { silentLog } from "../../../engine/round/context.ts";
import { commentCache } from "./comment-cache.ts";

test("of a run of a thousand pull requests each is asked for once, round after round, and one that was told of anew", async () => {
  const asked: number[] = [];
  const forge: Partial<Forge> = {
    comments: async (pull): Promise<Comment[]> => {
      asked.push(pull);
      return [];
    },
  };
  const held = commentCache(forge as Forge, { now: () => 0, after: () => () => undefined }, silentLog);
  const round = async () => {
    for (let pull = 1; pull <= 1000; pull++) await held.of(pull);
  };
  for (let time = 0; time < 3; time++) await round();
  expect(asked).toHaveLength(1000);
  held.touched(7);
  await round();
  expect(asked.slice(1000)).toEqual([7]);
});
