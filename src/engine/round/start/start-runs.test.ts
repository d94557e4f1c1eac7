import { expect, test } from "vitest";
import type { Forge, Pull } from "../../../adapters/forge/port.ts";
import type { IndexEntry, JournalState } from "../../../adapters/git/journal/port.ts";
import type { CommitInfo, Mirror } from "../../../adapters/git/port.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { partsOf } from "../../testing/parts.ts";
import { type RepoContext, silentLog } from "../context.ts";
import { openStarter } from "./start-runs.ts";

const FILE = "rollouts/my-app.yaml";
const TEXT = `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: my-app }
spec:
  sourceRef: { kind: ApplicationSet, name: my-app-set }
  release: { version: v3 }
  pins:
    - { file: 'apps/{{ cluster.name }}.yaml', path: version }
  stages: [ { name: all, clusters: { selector: {} } } ]
`;

/** The base asks for v3, which no control plane can be planned for, while v2 is on its way or done. */
function world(pulls: Partial<Pull>[]) {
  const commit: CommitInfo = { sha: "c1", parents: ["c0"], author: "a", authorEmail: "a", at: 0, subject: "", body: "" };
  const mirror: Partial<Mirror> = {
    listFiles: async (_commit: string, _below?: string, kind?: string) => (kind === "link" ? [] : [FILE]),
    readFiles: async (_commit, paths) => new Map(paths.map((path) => [path, path === FILE ? TEXT : null])),
    changedPaths: async () => [FILE],
    firstParentLog: async () => [commit],
  };
  let now = 0;
  let asked = 0;
  let people = 0;
  const forge: Partial<Forge> = {
    async pullsOfCommit() {
      asked += 1;
      return pulls as Pull[];
    },
    async peopleOf() {
      people += 1;
      return { linked: [], unlinked: [] };
    },
  };
  const clock = { now: () => now, after: () => () => undefined };
  const context = { mirror, forge, clock, log: silentLog, planes: new Map() } as unknown as RepoContext;
  const startRuns = openStarter(context, partsOf(context));
  const entry: IndexEntry = { lastRun: 1, lastRelease: { version: "v2" }, attempt: 1, cursor: "c0" };
  const start = async (run: Partial<Run>) => {
    const state = {
      index: new Map([["my-app", entry]]),
      runs: new Map([["my-app", { batches: [], ...run }]]),
      broken: new Map(),
    } as unknown as JournalState;
    const { started } = await startRuns(state, "c1", "main");
    return started[0];
  };
  return { start, asked: () => asked, people: () => people, step: (ms: number) => (now += ms) };
}

const MERGED: Partial<Pull> = { number: 7, state: "merged", base: "main" };

test("a release that no plan can be made for stops nothing that is in progress, and is told on its PR", async () => {
  const { start, step } = world([MERGED]);
  const progressing = { rollout: "my-app", number: 1, phase: "Progressing" } as const;
  // A control plane may be listed in a moment.
  expect(await start(progressing)).toMatchObject({ events: [], waiting: true, isUnsure: true });
  step(30_000);
  const started = await start(progressing);
  expect([started?.run, started?.refused?.pull]).toEqual([undefined, 7]);
  expect(started?.refused?.problems).toHaveLength(1);
});

test("the PR of a release that waits is asked for once, and where there is none, once a minute", async () => {
  const waiting = world([MERGED]);
  for (let round = 0; round < 3; round++) await waiting.start({ phase: "Succeeded" });
  expect(waiting.asked()).toBe(1);
  const pushed = world([]);
  for (let round = 0; round < 3; round++) await pushed.start({ phase: "Succeeded" });
  expect(pushed.asked()).toBe(1);
  pushed.step(60_000);
  await pushed.start({ phase: "Succeeded" });
  expect(pushed.asked()).toBe(2);
  expect(pushed.people(), "who brought what does not start yet").toBe(0);
});
