import { describe, expect, test } from "vitest";
import type { PullPeople } from "../../../adapters/forge/people.ts";
import { type Forge, ForgeError, type Pull } from "../../../adapters/forge/port.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import type { FoundRelease } from "../../config-repo/releases.ts";
import { broughtBy, broughtByPull } from "./brought-by.ts";

const found = (version: string): FoundRelease => ({
  release: { values: { version }, attempt: 1 },
  commit: { sha: "c1", parents: [], author: "Linus (really)", authorEmail: "x", at: 0, subject: "", body: "" },
});
const pushed = { release: { kind: "inline" } } as unknown as Rollout;
const tagged = { release: { kind: "tag" } } as unknown as Rollout;
const ask = (forge: Partial<Forge>, rollout = pushed) =>
  broughtBy({ forge: forge as Forge, mirror: {} as Mirror }, rollout, found("v2"), "main");

describe("who released without a pull request", () => {
  test("is whom GitHub links to the commit and who pushed it, never what the commit says", async () => {
    const forge = { peopleOf: async () => ({ linked: ["bob", "Alice"], pusher: "alice", unlinked: [] }) };
    expect(await ask(forge)).toEqual({ author: "Alice", accounts: ["Alice", "bob"] });
  });

  test("of a tag, who published its release, too", async () => {
    const asked: unknown[] = [];
    const forge = {
      peopleOf: async (...input: unknown[]) => {
        asked.push(input);
        return { linked: ["bob"], unlinked: [] };
      },
      releaseAuthor: async (tag: string) => (tag === "v2" ? "carol" : undefined),
    };
    expect(await ask(forge, tagged)).toEqual({ author: "carol", accounts: ["carol", "bob"] });
    expect(asked).toEqual([["c1", undefined, expect.any(Function)]]);
  });

  test("is nobody's account where GitHub knows none: nobody is excluded, the commit is noted, and its word is kept to be told", async () => {
    const people = { linked: [], unlinked: ["c1"] };
    expect(await ask({ peopleOf: async () => people })).toEqual({ author: "Linus (really)", accounts: [], unlinked: ["c1"] });
  });

  test("is not guessed while GitHub does not answer", async () => {
    const forge = {
      peopleOf: async () => {
        throw new ForgeError("Unavailable", 503, "down");
      },
    };
    await expect(ask(forge)).rejects.toThrow("down");
  });
});

describe("who released by a pull request", () => {
  const approved = { stages: [{}, { approval: { teams: ["sre"], count: 1 } }] } as unknown as Rollout;
  const byMerger = { stages: [{ approval: { teams: ["sre"], count: 1, notBy: ["author", "merger"] } }] } as unknown as Rollout;
  const pull = (number: number) => ({ number, author: "bob", head: "h1", mergeCommit: "m1" }) as Pull;
  const review = (author: string, head = "h1") => ({ author, authorIsBot: false, state: "APPROVED" as const, head, at: "" });

  function forgeOf(people: Partial<PullPeople>, mergedBy?: string) {
    const asked: number[] = [];
    const forge = {
      pullPeople: async ({ number }: { number: number }) => {
        asked.push(number);
        return { linked: ["alice", "Bob"], unlinked: [], ...people };
      },
      pull: async () => ({ mergedBy }),
      reviews: async () => [review("carol"), review("dave"), review("eve"), review("alice"), review("frank", "h0")],
      permission: async (login: string) => (login === "eve" ? "read" : "write"),
    } as unknown as Forge;
    return { forge, asked };
  }

  test("is who opened it, who made its commits and who pushed them", async () => {
    const { forge, asked } = forgeOf({ pushers: ["mallory"] });
    expect(await broughtByPull({ forge }, approved, pull(7))).toEqual({ author: "bob", accounts: ["Bob", "alice", "mallory"] });
    expect(asked).toEqual([7]);
  });

  test("is asked for only where somebody approves", async () => {
    const { forge, asked } = forgeOf({});
    expect(await broughtByPull({ forge }, { stages: [{}] } as unknown as Rollout, pull(8))).toEqual({ author: "bob" });
    expect(asked).toEqual([]);
  });

  test("commits of nobody's are noted, and with them who else may write and approved it as it was merged", async () => {
    const { forge } = forgeOf({ unlinked: ["c9"], pushers: ["dave"] });
    const brought = await broughtByPull({ forge }, approved, pull(7));
    expect(brought).toMatchObject({ unlinked: ["c9"], reviewers: ["carol"] });
  });

  test("who merged it is asked for where a stage wants to know, and a merger that nobody knows makes it a commit of nobody's", async () => {
    expect(await broughtByPull(forgeOf({}, "carol"), approved, pull(7))).not.toHaveProperty("merger");
    expect(await broughtByPull(forgeOf({}, "carol"), byMerger, pull(7))).toMatchObject({ merger: "carol" });
    expect(await broughtByPull(forgeOf({}), byMerger, pull(7))).toMatchObject({ unlinked: ["m1"] });
  });
});
