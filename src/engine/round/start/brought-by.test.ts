import { describe, expect, test } from "vitest";
import { type Forge, ForgeError } from "../../../adapters/forge/port.ts";
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
    const forge = { peopleOf: async () => ({ linked: ["bob", "Alice"], pusher: "alice" }) };
    expect(await ask(forge)).toEqual({ author: "Alice", accounts: ["Alice", "bob"] });
  });

  test("of a tag, who published its release, too", async () => {
    const asked: unknown[] = [];
    const forge = {
      peopleOf: async (...input: unknown[]) => {
        asked.push(input);
        return { linked: ["bob"] };
      },
      releaseAuthor: async (tag: string) => (tag === "v2" ? "carol" : undefined),
    };
    expect(await ask(forge, tagged)).toEqual({ author: "carol", accounts: ["carol", "bob"] });
    expect(asked).toEqual([["c1", undefined, expect.any(Function)]]);
  });

  test("is nobody's account where GitHub knows none: nobody is excluded, and the commit's word is kept to be told", async () => {
    expect(await ask({ peopleOf: async () => ({ linked: [] }) })).toEqual({ author: "Linus (really)", accounts: [] });
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
  const asked: number[] = [];
  const forge = {
    pullPeople: async (number: number) => {
      asked.push(number);
      return ["alice", "Bob"];
    },
  } as unknown as Forge;

  test("is who opened it and who pushed to it", async () => {
    expect(await broughtByPull({ forge }, approved, { number: 7, author: "bob" })).toEqual({ author: "bob", accounts: ["Bob", "alice"] });
    expect(asked).toEqual([7]);
  });

  test("is asked for only where somebody approves", async () => {
    expect(await broughtByPull({ forge }, { stages: [{}] } as unknown as Rollout, { number: 8, author: "bob" })).toEqual({ author: "bob" });
    expect(asked).toEqual([7]);
  });
});
