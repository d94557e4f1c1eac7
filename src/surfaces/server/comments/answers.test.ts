import { expect, test } from "vitest";
import { CommandAnswers } from "./answers.ts";

type Options = ConstructorParameters<typeof CommandAnswers>[0];

test("thousands of answers for which there is no room ask for one more look, not for one each", () => {
  let now = 1_000;
  const looks: number[] = [];
  const answers = new CommandAnswers({
    forge: {} as Options["forge"],
    clock: { now: () => now } as Options["clock"],
    log: {} as Options["log"],
    answering: { later: () => false } as unknown as Options["answering"],
    recheck: (inMs) => void looks.push(inMs),
  });
  for (let comment = 0; comment < 5_000; comment++) answers.react(String(comment), "eyes");
  expect(looks).toEqual([5_000]);
  now += 5_000;
  for (let comment = 0; comment < 5_000; comment++) answers.react(String(comment), "eyes");
  expect(looks).toEqual([5_000, 10_000]);
});
