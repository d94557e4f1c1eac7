import { expect, test } from "vitest";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { sampleRun } from "../../../test/support/sample-run.ts";
import { hasCode } from "../../core/base/reason.ts";
import { type AttentionReason, attentionReason } from "../../core/reasons/attention.ts";
import { said } from "../../core/reasons/run.ts";
import { openAttention } from "./attention.ts";
import { type RepoContext, silentLog } from "./context.ts";
import { openStandBy } from "./stand-by.ts";

const NOT_READ = attentionReason("JOURNAL_NOT_READ", { said: "no route to host" });
const NOT_OURS = attentionReason("JOURNAL_NOT_OURS", { because: { code: "JOURNAL_GONE", commit: "c1" } });

/** Somebody has written `/pause`, `/approve` and `/status` on the release PR of a run. */
function desk(held: AttentionReason) {
  const clock = manualClock(Date.parse("2026-11-21T09:00:00.000Z"));
  const answers: string[] = [];
  let notices = 0;
  const commands = {
    read: async () => ["pause", "approve", "status"].map((name, n) => ({ name, id: `7#${n}` })),
    async answer({ name }: { name: string }, outcome: string, message: Parameters<typeof hasCode>[0]) {
      answers.push(`${name} ${outcome}${hasCode(message, "NOTHING_IS_DONE") ? ": not yet" : ""}`);
    },
  };
  const context = { commands, log: silentLog, repository: "acme/fleet", clock, forge: {} } as unknown as RepoContext;
  const attention = openAttention(context, "acme/fleet");
  const standBy = openStandBy(context, {
    attention,
    // It concludes whatever it is told of, as one does of a command on a release that starts already.
    starter: (heard) => async () => {
      for (const command of await heard.read("payments", [])) await heard.answer(command, "refused", said("it starts already"));
      return { started: [], refused: [] };
    },
    formerPlaces: async () => new Map(),
    watchOpenPulls: async () => undefined,
    publisher: { standBy: () => void notices++ } as never,
  });
  const run = { ...sampleRun(), trigger: { ...sampleRun().trigger, pull: 1 } };
  const state = { head: "j1", index: new Map(), runs: new Map([[run.rollout, run]]), broken: new Map() };
  async function round(): Promise<string[]> {
    attention.note("journal", held);
    await standBy({ state, held, base: "b1", baseBranch: "main", heard: false });
    return answers.splice(0);
  }
  return { clock, attention, round, notices: () => notices };
}

const WAIT = ["pause waits: not yet", "approve waits: not yet", "status done"];

test("no command is refused because the journal is held: each is told that it waits, and stays for the round in which the journal holds", async () => {
  const { round } = desk(NOT_OURS);
  expect(await round()).toEqual(WAIT);
});

test("a blip of the journal is no word to anybody: only what has lasted a minute is told, and each blip is measured alone", async () => {
  const { clock, attention, round, notices } = desk(NOT_READ);
  expect(await round()).toEqual([]);
  clock.advance(59_000);
  expect(await round()).toEqual([]);
  attention.note("journal", undefined);
  expect(await round()).toEqual([]);
  clock.advance(59_000);
  expect([await round(), notices()]).toEqual([[], 0]);
  clock.advance(1000);
  expect([await round(), notices()]).toEqual([WAIT, 1]);
});
