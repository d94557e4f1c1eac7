/** Where branches and tags stand to what they are to be moved to, by commits whose order is told. */
import { expect, test } from "vitest";
import type { Edit } from "../../../core/plan/plan-types.ts";
import { movesOf } from "./branch-moves.ts";

/** `old` ← `release` ← `fix`, and `aside` on its own. */
const ORDER = ["old", "release", "fix"];
const contains = async (commit: string, part: string) =>
  commit === part || (ORDER.includes(part) && ORDER.indexOf(commit) >= ORDER.indexOf(part));

async function stands(head: string | undefined, { from, to, forced }: Pick<Edit, "from" | "to" | "forced">) {
  const edit = { file: "", path: "env/prod", kind: "branch" as const, from, to, ...(forced === true && { forced }) };
  const [move] = await movesOf({ contains } as never, { targets: [{ edits: [edit] }] }, new Map([["env/prod", head]]));
  return move?.stands;
}

test.each([
  ["old", "behind"],
  ["release", "there"],
  ["fix", "past"],
  ["aside", "apart"],
  [undefined, "gone"],
])("a branch at %s that goes forward from old to release is %s, forced or not", async (head, expected) => {
  expect(await stands(head, { from: "old", to: "release" })).toBe(expected);
  expect(await stands(head, { from: "old", to: "release", forced: true })).toBe(expected);
});

test.each([
  ["release", "behind"],
  ["old", "there"],
  ["fix", "apart"],
  ["aside", "apart"],
])("one at %s that goes back from release to old is %s, and never is without being told", async (head, expected) => {
  expect(await stands(head, { from: "release", to: "old", forced: true })).toBe(expected);
  if (head === "release") expect(await stands(head, { from: "release", to: "old" })).toBe("past");
});

test("one that goes aside is moved from where it was planned at alone", async () => {
  const forced = { from: "old", to: "aside", forced: true } as const;
  expect([await stands("old", forced), await stands("release", forced), await stands("aside", forced)]).toEqual([
    "behind",
    "apart",
    "there",
  ]);
});
