import { describe, expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import type { BranchRules } from "../../../adapters/forge/port.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { ObservedPull, World } from "../../../core/run/state/world.ts";
import type { Command } from "../../../core/spec/commands.ts";
import { fixedHeads } from "../../testing/fixed-heads.ts";
import { partsOf } from "../../testing/parts.ts";
import type { Rules } from "../branch-rules.ts";
import { type RepoContext, silentLog } from "../context.ts";
import type { Decision } from "../decide.ts";
import { MergeQueue } from "../merge-queue.ts";
import { Gates } from "../publish/gate-check.ts";
import { openActor } from "./act.ts";

const AT = "2026-11-21T09:00:00.000Z";

/** A step from its merge: nobody has written since, and the intention is fresh. */
function merging(isAnchored: boolean, aheadMs?: number) {
  const { run, number } = open();
  const sent: number[] = [];
  const mirror = {
    remoteHeads: async () =>
      new Map([
        ["main", "b"],
        ["stagecoach/journal", "j"],
      ]),
  };
  const clock = { now: () => Date.parse(AT), ahead: () => aheadMs };
  const context = { clock, journal: { isAnchored: async () => isAnchored }, journalBranch: "stagecoach/journal", mirror };
  const enqueuePull = async (asked: number) => {
    sent.push(asked);
    return { kind: "retry" as const, message: "later" };
  };
  const { act } = desk([], { remote: fixedHeads({ journal: "j", base: "b" }) }, { ...context, enqueuePull });
  const batches = run.batches.map((one) => (one.number === number ? { ...one, intention: { at: AT, head: "head12" } } : one));
  const decided = { ...decision({ ...run, batches } as Run, {}), decidedAt: performance.now() };
  decided.advanced.effects.push({ kind: "Merge", batch: number, pull: 12, head: "head12" });
  return { merge: () => act([decided], { base: "b", baseBranch: "main", whole: true }), sent };
}

test("nothing is merged while the journal is not above what is anchored: a halt may have been taken off it", async () => {
  const [good, rewound] = [merging(true), merging(false)];
  await good.merge();
  await rewound.merge();
  expect([good.sent, rewound.sent]).toEqual([[12], []]);
});

test("nothing is merged once our clock is known to differ from GitHub's, though the round decided before", async () => {
  const [agreed, apart] = [merging(true), merging(true, 15 * 60_000)];
  await agreed.merge();
  await apart.merge();
  expect([agreed.sent, apart.sent]).toEqual([[12], []]);
});

test("what fails beside a merge, or an intention that grew too old, holds no later merge up", async () => {
  const { run, number } = open();
  const sent: number[] = [];
  const heads = new Map(Object.entries({ main: "b", "stagecoach/journal": "j" }));
  const { act, pass } = desk(
    [],
    { remote: fixedHeads({ journal: "j", base: "b" }), propose: async () => false },
    {
      ...{ journal: { isAnchored: async () => true }, journalBranch: "stagecoach/journal", mirror: { remoteHeads: async () => heads } },
      enqueuePull: async (asked: number) => {
        sent.push(asked);
        return { kind: "retry" as const, message: "later" };
      },
    },
  );
  const round = { base: "b", baseBranch: "main", whole: true };
  const merging = (ageMs: number) => {
    const batches = run.batches.map((one) => (one.number === number ? { ...one, intention: { at: AT, head: "head12" } } : one));
    const decided = { ...decision({ ...run, batches } as Run, {}), now: Date.parse(AT) + ageMs, decidedAt: performance.now() };
    decided.advanced.effects.push({ kind: "Propose", batch: number }, { kind: "Merge", batch: number, pull: 12, head: "head12" });
    return act([decided], round);
  };
  for (let n = 0; n < 10; n++) {
    await merging(16_000);
    pass(1000);
  }
  expect(sent).toEqual([]);
  await merging(0);
  expect(sent).toEqual([12]);
  // GitHub has not answered for long: each intention is tried all the same.
  for (let n = 0; n < 20; n++) {
    pass(30_000);
    await merging(0);
  }
  expect(sent).toHaveLength(21);
});

test("a merge, a proposal or a stop that fails holds none of another batch up", async () => {
  const [merged, proposed, stopped]: [number[], number[], string[]] = [[], [], []];
  const fails = new Error("no");
  const heads = new Map(Object.entries({ main: "b", "stagecoach/journal": "j" }));
  const analyses = {
    async stop(id: string) {
      stopped.push(id);
      if (stopped.length < 5) throw fails;
      return true as const;
    },
  };
  const { act, pass } = desk(
    [],
    {
      remote: fixedHeads({ journal: "j", base: "b" }),
      analyses: analyses as never,
      async propose(_scope, { number }) {
        proposed.push(number);
        throw fails;
      },
    },
    {
      ...{ journal: { isAnchored: async () => true }, journalBranch: "stagecoach/journal", mirror: { remoteHeads: async () => heads } },
      async enqueuePull(asked: number) {
        merged.push(asked);
        return { kind: "retry" as const, message: "later" };
      },
    },
  );
  const { run } = open();
  const [first, second] = run.batches.map((one) => ({ ...one, phase: "Merging" as const, intention: { at: AT, head: "h" } }));
  if (first === undefined || second === undefined) throw new Error("the sample has two batches");
  const round = async (number = run.number) => {
    const decided = { ...decision({ ...run, number, batches: [first, second] } as Run, {}), decidedAt: performance.now() };
    for (const { number } of [first, second]) {
      const kinds = [
        { kind: "Merge" as const, batch: number, pull: 10 + number, head: "h" },
        { kind: "Propose" as const, batch: number },
      ];
      decided.advanced.effects.push(...kinds, { kind: "StopAnalysis", analysis: `a${number}` });
    }
    await act([decided], { base: "b", baseBranch: "main", whole: true });
  };
  await round();
  expect([merged, proposed, stopped]).toEqual([
    [11, 12],
    [1, 2],
    ["a1", "a2"],
  ]);
  pass(2000);
  await round();
  pass(4000);
  // Now they are stopped; what fails again after that has not failed often.
  await round();
  stopped.length = 0;
  await round();
  pass(2000);
  await round();
  expect(stopped).toEqual(["a1", "a2", "a1", "a2"]);
  // Nor is the next run held up by what failed of the one before.
  proposed.length = 0;
  await round();
  await round(run.number + 1);
  expect(proposed).toEqual([1, 2]);
});

function desk(
  queued: number[] = [],
  more: Partial<Parameters<typeof openActor>[1]> = {},
  { enqueuePull, ...over }: object & { enqueuePull?: unknown } = {},
) {
  const did: string[] = [];
  let now = Date.parse(AT);
  const forge = {
    dequeuePull: async (pull: number) => void did.push(`dequeue ${pull}`),
    putCheck: async ({ head, conclusion }: { head: string; conclusion?: string }) => void did.push(`gate ${head} ${conclusion ?? "open"}`),
    mergeQueue: async () => {
      did.push("read queue");
      return queued.map((pull, index) => ({ pull, state: "QUEUED", position: index + 1, head: `group${pull}` }));
    },
  };
  Object.assign(forge, { enqueuePull });
  const commands = { answer: async (command: Command) => void did.push(`answer ${command.name}`) };
  const clock = { now: () => now };
  const context = { forge, commands, clock, log: silentLog, mirror: {}, planes: new Map(), ...over } as unknown as RepoContext;
  const opened = partsOf(context);
  const rules: Rules = { last: { mergeQueue: true } as BranchRules, of: async () => undefined, bare: async () => [] };
  const queue = new MergeQueue(context, rules, opened.pulls, opened.remote);
  const gates = new Gates(context, opened.gateChecks, queue, opened.pulls);
  const recorder = { anchor: async () => void (did.includes("anchor") || did.push("anchor")) };
  const act = openActor(context, { ...opened, queue, gates, recorder, ...more });
  const pass = (ms: number) => {
    now += ms;
  };
  return { act, queue, did, pass };
}

/** The sample run with its second batch's PR open. */
function open(change: Partial<Run> = {}): { run: Run; pull: ObservedPull; number: number } {
  const run = sampleRun(change);
  const second = run.batches[1];
  if (second === undefined) throw new Error("the sample has two batches");
  const url = "https://forge.invalid/pull/12";
  const { merged: _, ...rest } = second;
  const batches = run.batches.map((one) =>
    one === second ? { ...rest, phase: "Open" as const, pull: { number: 12, url, head: "head12", openedAt: AT } } : one,
  );
  const pull = { number: 12, url, state: "open", draft: false, head: "head12", headIsOurs: true, mergeable: "yes", openedAt: AT } as const;
  return { run: { ...run, batches }, pull, number: second.number };
}

function decision(run: Run, world: Partial<World>, command?: Command, fenced: number[] = []): Decision {
  const effects =
    command === undefined
      ? []
      : [{ kind: "Answer" as const, command: command.id, outcome: "done" as const, message: { code: "PAUSE_DONE" } }];
  const seen = { pulls: new Map(), commands: command === undefined ? [] : [command], ...world } as World;
  return {
    decidedAt: 0,
    now: Date.parse(AT),
    before: run,
    world: seen,
    remarks: [],
    advanced: { run, effects, change: "none", events: [], fenced },
  };
}

const halt: Command = {
  id: "1#0",
  name: "halt",
  args: ["stop"],
  flags: {},
  text: "/halt stop",
  actor: "carol",
  permission: "maintain",
  createdAt: AT,
};

describe("what is fenced before a stop is answered", () => {
  test("a PR that a person put into the merge queue a moment ago is taken out, once, and the command is answered once the journal is anchored", async () => {
    const { act, did } = desk();
    const { run, pull, number } = open();
    const decided = decision(run, { pulls: new Map([[number, pull]]) }, halt, [number]);
    const at = { base: "b", baseBranch: "main", whole: true };
    await act([decided], at);
    expect(did).toEqual(["dequeue 12", "gate head12 failure", "anchor", "answer halt"]);
    await act([decided], at);
    expect(did.filter((one) => one === "dequeue 12")).toHaveLength(1);
  });

  test("a halt is not answered in a round in which a run could not be looked at", async () => {
    const { act, did } = desk();
    const { run } = open();
    await act([decision(run, {}, halt)], { base: "b", baseBranch: "main", whole: false });
    expect(did).toEqual(["anchor"]);
    await act([decision(run, {}, { ...halt, name: "pause" })], { base: "b", baseBranch: "main", whole: false });
    expect(did).toEqual(["anchor", "answer pause"]);
  });

  test("the queue is read for an open PR, too, since a person may have put it in, and not in every round", async () => {
    const { queue, did, pass } = desk([12]);
    const { run } = open();
    await queue.read(run, "main");
    await queue.read(run, "main");
    expect(did).toEqual(["read queue"]);
    expect(queue.entries).toMatchObject([{ pull: 12, head: "group12" }]);
    pass(31_000);
    await queue.read(run, "main");
    expect(did).toHaveLength(2);
  });
});

test("after a proposal the remote is asked anew: another process may have written meanwhile, and opens nothing twice then", async () => {
  const remote = fixedHeads();
  const { act } = desk([], { remote, propose: async () => true });
  const { run, number } = open();
  const decided = decision(run, {});
  decided.advanced.effects.push({ kind: "Propose", batch: number });
  await act([decided], { base: "b", baseBranch: "main", whole: true });
  expect(remote.needsFetch).toBe(true);
});
