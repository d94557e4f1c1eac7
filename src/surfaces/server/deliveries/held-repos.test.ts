import { expect, test } from "vitest";
import type { Permission } from "../../../core/spec/commands.ts";
import { silentLog } from "../../../engine/round/context.ts";
import { openHearing } from "./held-repos.ts";

function opened(people: Record<string, Permission>) {
  const state = { held: true, now: 0, isDown: false };
  const [woken, asked]: [string[], string[]] = [[], []];
  const speak = openHearing({
    waits: () => state.held,
    wake: (repository, _at, heard) => void woken.push(`${repository}${heard === true ? " heard" : ""}`),
    async permission(_repository, login) {
      asked.push(login);
      if (state.isDown) throw new Error("GitHub is away");
      return people[login] ?? "none";
    },
    clock: { now: () => state.now },
    log: silentLog,
  });
  return {
    ...{ state, woken, asked },
    async said(by?: string) {
      woken.length = 0;
      speak("o/r", by);
      await new Promise(setImmediate);
      return [...woken];
    },
  };
}

test("a repository that waits is heard by the word of who may steer it, and of nobody else", async () => {
  const { said, state, asked } = opened({ carol: "write", rob: "read" });
  expect(await said("carol")).toEqual(["o/r", "o/r heard"]);
  for (const stranger of ["mallory", "rob", "rob"]) expect(await said(stranger)).toEqual(["o/r"]);
  expect(await said(undefined)).toEqual(["o/r"]);
  expect(asked).toEqual(["carol", "mallory", "rob"]);
  state.held = false;
  expect(await said("mallory")).toEqual(["o/r heard"]);
  expect(asked).toHaveLength(3);
});

test("who got the right since is heard minutes later, and who could not be asked about at their next word", async () => {
  const people: Record<string, Permission> = {};
  const { said, state } = opened(people);
  await said("dave");
  people["dave"] = "admin";
  state.now += 5 * 60_000;
  expect(await said("dave")).toContain("o/r heard");
  state.isDown = true;
  expect(await said("dave")).toEqual(["o/r"]);
  state.isDown = false;
  expect(await said("dave")).toContain("o/r heard");
});

test("hundreds of strangers cost GitHub thirty questions a minute", async () => {
  const { said, state, asked } = opened({ carol: "admin" });
  for (let n = 0; n < 300; n++) await said(`stranger-${n}`);
  expect(asked).toHaveLength(30);
  state.now += 60_000;
  expect(await said("carol")).toContain("o/r heard");
});
