import { expect, test } from "vitest";
import type { Mirror } from "../../adapters/git/port.ts";
import type { RepoContext } from "./context.ts";
import { repoMemory } from "./memory.ts";
import { isInHistory } from "./observe/observe.ts";

type Answers = Record<string, boolean | undefined>;

/** A mirror that only knows which commit contains which. */
function bench(answers: Answers) {
  const asked: string[] = [];
  const mirror: Partial<Mirror> = {
    async isAncestor(ancestor, descendant) {
      const question = `${ancestor} in ${descendant}`;
      asked.push(question);
      return answers[question];
    },
  };
  const memory = repoMemory(mirror as Mirror);
  memory.remote.dirty = false;
  return { asked, memory, context: { mirror } as RepoContext };
}

test("a merge that is not fetched yet is neither in the history nor out of it, and makes the next round fetch", async () => {
  const answers: Answers = {};
  const { context, memory } = bench(answers);
  expect(await isInHistory(context, memory, "merge", "base")).toBeUndefined();
  expect(memory.remote.stale).toBe(true);
  answers["merge in base"] = true;
  expect(await isInHistory(context, memory, "merge", "base")).toBe(true);
});

test("what is known for sure is asked once, and asks for no fetch", async () => {
  const { asked, context, memory } = bench({ "gone in base": false, "merge in base": true });
  for (const _again of [1, 2]) {
    expect(await isInHistory(context, memory, "gone", "base")).toBe(false);
    expect(await isInHistory(context, memory, "merge", "base")).toBe(true);
  }
  expect(asked).toEqual(["gone in base", "merge in base"]);
  expect(memory.remote.dirty).toBe(false);
});

test("a base that contains the former contains what that contained, unless nobody knows that it does", async () => {
  const answers: Answers = { "merge in old": true, "old in new": true, "merge in odd": false };
  const { asked, context, memory } = bench(answers);
  await isInHistory(context, memory, "merge", "old");
  memory.previousBase = "old";
  expect(await isInHistory(context, memory, "merge", "new")).toBe(true);
  expect(asked).not.toContain("merge in new");
  // Not known to descend from the former base: asked itself, and "unknown" is not kept as an answer.
  expect(await isInHistory(context, memory, "merge", "odd")).toBe(false);
  expect(memory.facts.has("old in odd")).toBe(false);
});
