import { expect, test } from "vitest";
import { ForgeError } from "../../adapters/forge/port.ts";
import { silentLog } from "../round/context.ts";
import { openRevisions } from "./revisions.ts";

const OURS = "git.example/acme/fleet";
const tags = new Map([
  ["refs/tags/v1", "1".repeat(40)],
  ["refs/heads/v1", "2".repeat(40)],
  ["refs/heads/next", "3".repeat(40)],
]);

function opened() {
  const asked: string[] = [];
  const clock = { time: 0, now: () => clock.time, after: () => () => undefined };
  const state = { isDown: false };
  const revisions = openRevisions({
    mirror: {
      async remoteCommits(refs: readonly string[]) {
        asked.push(...refs);
        if (state.isDown) throw new Error("connection refused");
        return tags;
      },
    },
    forge: {
      async commitOf(repository: string, revision: string) {
        asked.push(`${repository} ${revision}`);
        if (state.isDown) throw new ForgeError("Unavailable", 502, "bad gateway");
        return repository === "acme/app" ? "4".repeat(40) : "hidden";
      },
    },
    clock,
    log: silentLog,
    repoURL: "https://git.example/acme/fleet.git",
  } as unknown as Parameters<typeof openRevisions>[0]);
  const now = async (repoURL: string, revision: string, mostMs = 2000) => (await revisions([{ repoURL, revision }], mostMs))?.[0]?.commit;
  return { now, asked, clock, state };
}

test("of the config repo Git is asked, a tag before a branch; what is neither is none", async () => {
  const { now } = opened();
  expect(await now(OURS, "v1")).toBe("1".repeat(40));
  expect(await now(OURS, "next")).toBe("3".repeat(40));
  expect(await now(OURS, "v9")).toBeNull();
});

test("of another repo of this host its API is asked, of no other host anything", async () => {
  const { now, asked } = opened();
  expect(await now("git.example/acme/app", "v1")).toBe("4".repeat(40));
  expect(await now("git.example/acme/secret", "v1")).toBe("hidden");
  expect(await now("169.254.169.254/acme/app", "v1")).toBe("hidden");
  expect(await now("git.example/acme/app/../../x", "v1")).toBe("hidden");
  expect(asked).toEqual(["acme/app v1", "acme/secret v1"]);
});

test("what is no name of a ref is never asked for: a range of versions, an option, a way out", async () => {
  const { now, asked } = opened();
  for (const revision of ["1.*", ">=1.2", "--upload-pack=x", "v1..v2", "v1 x", ""]) expect(await now(OURS, revision)).toBe("hidden");
  expect(asked).toEqual([]);
});

test("an answer is as old as was asked for at most, and none is none", async () => {
  const { now, asked, clock, state } = opened();
  await now(OURS, "v1");
  clock.time = 1999;
  await now(OURS, "v1");
  expect(asked).toHaveLength(2);
  clock.time = 2000;
  state.isDown = true;
  expect(await now(OURS, "v1")).toBeUndefined();
  expect(await now(OURS, "v1", 30_000)).toBe("1".repeat(40));
});
