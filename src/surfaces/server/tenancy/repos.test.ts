import { expect, test } from "vitest";
import type { Forge } from "../../../adapters/forge/port.ts";
import { silentLog } from "../../../engine/round/context.ts";
import { fenceForge } from "../../../engine/round/fence.ts";
import type { InstalledRepo, InstalledRepos } from "./installed-repos.ts";
import { Repos } from "./repos.ts";
import type { ServedRepo } from "./served-repo.ts";

const place: InstalledRepo = { fullName: "o/r", baseBranch: "main", cloneUrl: "https://example.com/o/r.git", id: 1, installationId: 1 };
const found: InstalledRepos = { repos: [place], suspended: new Set(), unseen: new Set(), owners: new Set(["o"]) };

test("a round that hangs is given up: nothing of it is used again, it is opened anew, and told how often it was so", async () => {
  const abandoned: number[] = [];
  let opened = 0;
  const open = async () => {
    const mine = ++opened;
    return { abandon: () => void abandoned.push(mine) } as unknown as ServedRepo;
  };
  const repos = new Repos({ log: silentLog, open, forget: async () => undefined });
  repos.apply(found);
  const given: number[] = [];
  for (const _ of [1, 2]) {
    const over = new AbortController();
    const looking = repos.work(
      "o/r",
      (_served, givenUp) => {
        given.push(givenUp);
        return new Promise(() => undefined);
      },
      over.signal,
    );
    await new Promise(setImmediate);
    over.abort(new Error("it hangs"));
    void looking;
  }
  for (const _ of [1, 2]) await repos.work("o/r", async (_served, givenUp) => void given.push(givenUp), new AbortController().signal);
  expect([given, abandoned, opened]).toEqual([[0, 1, 2, 0], [1, 2], 3]);
  // What hung may hang for ever: closing does not wait for it.
  await expect(
    Promise.race([repos.close().catch(() => "closed"), new Promise((resolve) => setTimeout(resolve, 50, "waits"))]),
  ).resolves.not.toBe("waits");
});

test("behind the fence a call under way fails at once, and none is made any more", async () => {
  const asked: string[] = [];
  const over = new AbortController();
  const forge = fenceForge(
    {
      repository: "o/r",
      comments: () => new Promise(() => undefined),
      react: async () => void asked.push("react"),
      rate: () => ({ limit: 5000, remaining: 10, resetAt: 0 }),
    } as unknown as Forge,
    over.signal,
  );
  expect(forge.rate?.()).toMatchObject({ remaining: 10 });
  await forge.react(1, "eyes");
  const hangs = forge.comments(1);
  over.abort(new Error("it hangs"));
  await expect(hangs).rejects.toThrow("it hangs");
  await expect((async () => forge.react(1, "eyes"))()).rejects.toThrow("it hangs");
  expect(asked).toEqual(["react"]);
});
