import { expect, test } from "vitest";
import { MERGED } from "../../src/adapters/argocd/testing/application.ts";
import { decodeApplication } from "../../src/core/argocd/decode/application.ts";
import { assess } from "../../src/core/argocd/liveness/liveness.ts";
import type { ClauseName, LivenessInput, PartName } from "../../src/core/argocd/liveness/types.ts";
import { defined } from "../../src/core/base/defined.ts";
import type { AnyReason } from "../../src/core/base/reason.ts";
import { iso } from "../../src/core/base/time.ts";
import { sentenceOf } from "../../src/core/report/reasons/say.ts";
import type { Verdict } from "../../src/core/run/state/run.ts";
import { history, LAST } from "./argocd-model.ts";
import type { History } from "./history-plan.ts";

const RUNS = Number(process.env["STAGECOACH_RUNS"] ?? (process.env["STAGECOACH_REQUIRE_ALL"] === "1" ? 2000 : 500));
const T = Date.parse(MERGED);

/** What a bot that watches says of a history, second by second as far as it has reason to look. */
function watched(one: History, without?: ClauseName | PartName): { at: number; verdict: Verdict; sentence: AnyReason }[] {
  const said: { at: number; verdict: Verdict; sentence: AnyReason }[] = [];
  let state: Pick<LivenessInput, "firstSeenAt" | "firstComparedAt" | "held"> = { held: {} };
  let next = 0;
  let read = -1;
  let application: ReturnType<typeof decodeApplication>;
  // A watch is a second late at most; every few seconds there is another reason to look.
  for (let second = 0; second <= LAST; second++) {
    while (next < one.writes.length && (one.writes[next]?.at ?? 0) <= second - (one.seed % 2)) next++;
    const fresh = next - 1 !== read;
    if (!fresh && second % 7 !== 0) continue;
    read = next - 1;
    const now = T + second * 1000 + (one.seed % 1000);
    // What stands there as before is read again as what it was, now.
    if (fresh) application = decodeApplication(one.writes[read]?.raw, now);
    else if (application !== undefined) application = { ...application, readAt: iso(now) };
    const connection = { status: one.connection(second), message: "" };
    const cluster = { name: "eu-1", server: "https://eu-1.example.com", labels: {}, registered: true, connection };
    const base = {
      change: one.change,
      settleMs: 10_000,
      graceMs: 60_000,
      intended: one.intended,
      ancestry: one.ancestry,
      hydrated: one.hydrated,
      cluster,
    };
    const assessment = assess({ ...base, ...state, application, now }, without === undefined ? {} : { without });
    state = defined({
      firstSeenAt: assessment.firstSeenAt,
      firstComparedAt: assessment.firstComparedAt,
      held: assessment.held ?? {},
    });
    said.push({ at: second, verdict: assessment.verdict, sentence: assessment.sentence });
  }
  return said;
}

type Said = ReturnType<typeof watched>;

function wrong(one: History, said: Said): string[] {
  const found: string[] = [];
  for (const { at, verdict, sentence } of said) {
    if (verdict === "live" && at < one.liveFrom)
      found.push(`seed ${one.seed}, second ${at}: "${sentenceOf(sentence)}", truly live from ${one.liveFrom} on`);
    if (verdict === "failing" && at < one.badFrom)
      found.push(`seed ${one.seed}, second ${at}: "${sentenceOf(sentence)}", and nothing was wrong`);
  }
  return found;
}

test(`in ${RUNS} random histories of Argo CD nothing is live that is not, and nothing failing that is well`, { timeout: 120_000 }, () => {
  const found: string[] = [];
  let calm = 0;
  for (let seed = 1; seed <= RUNS; seed++) {
    const one = history(seed);
    const said = watched(one);
    found.push(...wrong(one, said).slice(0, 1));
    if (!one.calm) continue;
    calm++;
    if (!said.some(({ verdict }) => verdict === "live"))
      found.push(`seed ${seed}: never live, at the end "${sentenceOf(said.at(-1)?.sentence)}"`);
  }
  expect(found).toEqual([]);
  expect(calm).toBeGreaterThan(RUNS / 3);
});

// That the histories can tell: each of these is in fact what keeps some of them from passing wrongly.
const TELLING: (ClauseName | PartName)[] = [
  "exists",
  "cluster",
  "compared",
  "revision",
  "operation",

  "synced",
  "health",
  "settled",
];

test.each(TELLING)("without %s some of them pass wrongly", (clause) => {
  const found: number[] = [];
  for (let seed = 1; seed <= 5000 && found.length === 0; seed++) {
    const one = history(seed);
    if (wrong(one, watched(one, clause)).length > 0) found.push(seed);
  }
  expect(found).not.toEqual([]);
});

type Raw = Record<string, unknown>;

/** The same history with every hydration said to be by the spec that is there. */
function forgetsSpecs(one: History): History {
  const writes = one.writes.map(({ at, raw }) => {
    const { spec, status } = (raw ?? {}) as { spec?: Raw; status?: Raw };
    const sourceHydrator = spec?.["sourceHydrator"];
    if (raw === null || sourceHydrator === undefined) return { at, raw };
    const said = Object.entries(status?.["sourceHydrator"] as Raw).map(([key, value]) => [
      key,
      typeof value === "object" ? { ...value, sourceHydrator } : value,
    ]);
    return { at, raw: { ...raw, status: { ...status, sourceHydrator: Object.fromEntries(said) } } };
  });
  return { ...one, writes };
}

/** The same history with what the cluster's clock dates before the merge taken for something else. */
function forgetsFailures(one: History): History {
  const writes = one.writes.map(({ at, raw }) => {
    const { status } = (raw ?? {}) as { status?: { operationState?: { phase: string; finishedAt?: string } } };
    const { phase, finishedAt } = status?.operationState ?? {};
    if (raw === null || phase !== "Failed" || finishedAt === undefined || Date.parse(finishedAt) >= T) return { at, raw };
    return { at, raw: { ...raw, status: { ...status, operationState: undefined } } };
  });
  return { ...one, writes };
}

// Looked for from shortly before the first that showed it.
test.each([
  ["the spec that a hydration was by", forgetsSpecs, 40],
  ["a failed sync that seems to have ended before the merge", forgetsFailures, 560],
] as const)("without %s some of them pass wrongly", (_name, forget, from) => {
  const found: number[] = [];
  for (let seed: number = from; seed <= 20_000 && found.length === 0; seed++) {
    const one = history(seed);
    if (wrong(one, watched(forget(one))).length > 0) found.push(seed);
  }
  expect(found).not.toEqual([]);
});
