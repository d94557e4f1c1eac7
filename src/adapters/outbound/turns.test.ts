import { expect, test } from "vitest";
import { askFor } from "./asker.ts";
import { openTurns } from "./turns.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Work that ends when it is told to, in the order it was begun. */
function world(most: number) {
  const turns = openTurns(most);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (repository: string, name: string) =>
    askFor(repository, () =>
      turns(async () => {
        begun.push(name);
        await new Promise<void>((end) => ends.push(end));
      }),
    );
  const endOne = async () => {
    ends.shift()?.();
    await turn();
  };
  return { turns, begun, ask, endOne };
}

test("so many are under way at once, and one repository's hundred hold another's up for one turn", async () => {
  const { begun, ask, endOne } = world(2);
  for (let n = 0; n < 100; n++) void ask("acme/noisy", `noisy ${n}`);
  void ask("acme/other", "other 0");
  void ask("acme/other", "other 1");
  await turn();
  expect(begun).toEqual(["noisy 0", "noisy 1"]);
  for (let n = 0; n < 5; n++) await endOne();
  expect(begun.slice(2)).toEqual(["other 0", "noisy 2", "other 1", "noisy 3", "noisy 4"]);
});

test("work that fails gives its turn on", async () => {
  const { turns, begun, ask } = world(1);
  const failed = turns(() => Promise.reject(new Error("no")));
  void ask("acme/other", "other");
  await expect(failed).rejects.toThrow("no");
  await turn();
  expect(begun).toEqual(["other"]);
});
