import { expect, test } from "vitest";
import type { Forge, Pull } from "../../../adapters/forge/port.ts";
import type { JournalState } from "../../../adapters/git/journal/port.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import type { Project } from "../../config-repo/project.ts";
import { partsOf } from "../../testing/parts.ts";
import { type RepoContext, silentLog } from "../context.ts";

const MINUTE = 60_000;
const base = "b".repeat(40);
const problem = (file: string) => ({ code: "X", severity: "error", message: "no", hint: "do", file, line: 1, column: 1, path: [] });

/** Two files are broken, each by its own commit; the PR of the first is listed from the start, the other's from `lateAt` on. */
function scene(lateAt: number) {
  let now = 0;
  const asked: string[] = [];
  const warned: unknown[] = [];
  const commits = ["1".repeat(40), "2".repeat(40)];
  const mirror: Partial<Mirror> = {
    firstParentLog: async () => commits.map((sha) => ({ sha })) as never,
    commitInfo: async (sha) => ({ sha, parents: [`${sha}^`] }) as never,
    changedPaths: async (_from, to) => [`rollouts/${to[0]}.yaml`],
  };
  const forge: Partial<Forge> = {
    async pullsOfCommit(sha) {
      asked.push(`${sha[0]} at ${now / MINUTE}`);
      if (sha[0] === "2" && now < lateAt) return [];
      return [{ number: Number(sha[0]), state: "merged", base: "main" } as Pull];
    },
  };
  const log = { ...silentLog, warn: (fields: object) => void ("pull" in fields || warned.push(fields)) };
  const context = { mirror, forge, log, clock: { now: () => now } } as unknown as RepoContext;
  const memory = partsOf(context);
  const state = { index: new Map([["a", { cursor: "c" }]]) } as unknown as JournalState;
  const project = { rollouts: [], problems: [problem("rollouts/1.yaml"), problem("rollouts/2.yaml")] } as unknown as Project;
  const round = async () => (await memory.refused.find(state, project, base, "main")).map(({ pull }) => pull);
  /** A round each ten seconds. */
  async function rounds(until: number): Promise<number[]> {
    let told: number[] = [];
    for (; now <= until; now += 10_000) told = await round();
    return told;
  }
  return { memory, asked, warned, rounds };
}

test("a PR that GitHub lists a little late is told why no run starts, once it is listed", async () => {
  const { rounds, asked, memory } = scene(2.5 * MINUTE);
  expect(await rounds(MINUTE)).toEqual([1]);
  expect(await rounds(3 * MINUTE)).toEqual([1, 2]);
  expect(asked).toEqual(["1 at 0", "2 at 0", "2 at 1", "2 at 2", "2 at 3"]);
  expect(memory.refused.recheckAt).toBeUndefined();
  await rounds(60 * MINUTE);
  expect(asked).toHaveLength(5);
});

test("a commit that has none is asked for once a minute, for ten minutes, and then said to have none, once", async () => {
  const { rounds, asked, warned, memory } = scene(Number.POSITIVE_INFINITY);
  await rounds(9 * MINUTE);
  expect([warned, memory.refused.recheckAt]).toEqual([[], 10 * MINUTE]);
  expect(memory.refused.unplaced.map(({ commit }) => commit[0])).toEqual(["2"]);
  expect(await rounds(120 * MINUTE)).toEqual([1]);
  expect(asked).toHaveLength(1 + 11);
  expect(warned).toEqual([{ commit: "2".repeat(40), problems: ["no"] }]);
});
