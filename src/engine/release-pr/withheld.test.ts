import { beforeEach, describe, expect, test } from "vitest";
import type { Command, Permission } from "../../core/spec/commands.ts";
import { silentLog } from "../round/context.ts";
import { JudgementKilled } from "./judge-in-cell.ts";
import type { JudgedPull, PlanBase, Verdict } from "./types.ts";
import { openWithheld } from "./withheld.ts";

const VERDICT = { concerns: true, retry: false } as Verdict;
const PULL = { number: 7, head: "h1", isFork: true } as JudgedPull;
const ASKED = { plansForks: false } as PlanBase;

let notes: Map<string, string>;
let judged: number;
let killing: boolean;

beforeEach(() => {
  [notes, judged, killing] = [new Map(), 0, false];
});

/** Opened anew it is what a process has after a restart. */
function open(): ReturnType<typeof openWithheld> {
  const mirror = {
    note: async (name: string, commit: string) => void notes.set(name, commit),
    noted: async (name: string) => notes.get(name),
  };
  return openWithheld({ mirror, log: silentLog } as unknown as Parameters<typeof openWithheld>[0], async () => {
    judged += 1;
    if (killing) throw new JudgementKilled("memory");
    return VERDICT;
  });
}

const plan = (permission: Permission) => [{ name: "plan", permission } as Command];

describe("a pull request from a fork", () => {
  test("is judged once somebody with write asks, of that head alone, and still after a restart", async () => {
    expect(await open()(ASKED, PULL, [])).toMatchObject({ withheld: { code: "PLAN_OF_FORK" }, check: { status: "in_progress" } });
    expect(await open()(ASKED, PULL, plan("read"))).toMatchObject({ withheld: { code: "PLAN_OF_FORK" } });
    expect(judged).toBe(0);
    expect(await open()(ASKED, PULL, plan("write"))).toBe(VERDICT);
    expect(await open()(ASKED, PULL, [])).toBe(VERDICT);
    expect(await open()(ASKED, { ...PULL, head: "h2" }, [])).toMatchObject({ withheld: { code: "PLAN_OF_FORK" } });
  });

  test("the settings may let all be planned, by plans.forks; those of the repository itself always are", async () => {
    expect(await open()({ ...ASKED, plansForks: true }, PULL, [])).toBe(VERDICT);
    expect(await open()(ASKED, { ...PULL, isFork: false }, [])).toBe(VERDICT);
  });
});

describe("a pull request that passes the cell's limits", () => {
  const own = { ...PULL, isFork: false };

  test("is tried twice, and then left alone until its head changes, over restarts and /plan", async () => {
    killing = true;
    expect(await open()(ASKED, own, [])).toMatchObject({ withheld: { code: "PLAN_KILLED", by: "memory", final: false }, retry: true });
    expect(await open()(ASKED, own, [])).toMatchObject({ withheld: { code: "PLAN_KILLED", final: true }, retry: false });
    expect(await open()(ASKED, own, plan("admin"))).toMatchObject({ withheld: { final: true }, check: { conclusion: "failure" } });
    expect(judged).toBe(2);
    killing = false;
    expect(await open()(ASKED, { ...own, head: "h2" }, [])).toBe(VERDICT);
  });
});
