import { expect, test } from "vitest";
import type { Mirror } from "../../adapters/git/port.ts";
import { openCommits } from "./commits.ts";

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
  return { asked, commits: openCommits(mirror as Mirror) };
}

test("a merge that is not fetched yet is neither in the history nor out of it until it is", async () => {
  const answers: Answers = {};
  const { commits } = bench(answers);
  expect(await commits.isInHistory("merge", "base")).toBeUndefined();
  answers["merge in base"] = true;
  expect(await commits.isInHistory("merge", "base")).toBe(true);
});

test("what is known for sure is asked once", async () => {
  const { asked, commits } = bench({ "gone in base": false, "merge in base": true });
  for (const _again of [1, 2]) {
    expect(await commits.isInHistory("gone", "base")).toBe(false);
    expect(await commits.isInHistory("merge", "base")).toBe(true);
  }
  expect(asked).toEqual(["gone in base", "merge in base"]);
});

test("a base that contains the former contains what that contained, unless nobody knows that it does", async () => {
  const answers: Answers = { "merge in old": true, "old in new": true, "merge in odd": false };
  const { asked, commits } = bench(answers);
  await commits.isInHistory("merge", "old");
  expect(await commits.isInHistory("merge", "new")).toBe(true);
  expect(asked).not.toContain("merge in new");
  // Not known to descend from the former base: asked itself, and "unknown" is not kept as an answer.
  expect(await commits.isInHistory("merge", "odd")).toBe(false);
  expect(commits.knownToContain("odd", "new")).toBeUndefined();
});
