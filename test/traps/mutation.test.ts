import { describe, expect, test } from "vitest";
import { BAD_CONDITIONS } from "../../src/core/argocd/decode/status.ts";
import { CLAUSES } from "../../src/core/argocd/liveness/clauses/clauses.ts";
import { CLAUSE_NAMES, type PartName } from "../../src/core/argocd/liveness/types.ts";
import { sentenceOf } from "../../src/core/report/reasons/say.ts";
import { TRAPS } from "./all.ts";
import { mayPass, play, type Trap } from "./trace.ts";

const titled = TRAPS.map((trap): [string, Trap] => [`${trap.issues.join(", ") || "own rule"}: ${trap.name}`, trap]);
const PARTS = CLAUSE_NAMES.flatMap((name) => Object.keys(CLAUSES[name]).map((part): PartName => `${name}/${part}`));

function passesWrongly(trap: Trap, without: PartName | (typeof CLAUSE_NAMES)[number]): boolean {
  const { passedAt } = play(trap, { without });
  return passedAt !== undefined && passedAt < mayPass(trap);
}

describe("traps that others fell into, read by read", () => {
  test.each(titled)("%s", (_title, trap) => {
    const { assessments, passedAt, failedAt } = play(trap);
    const said = assessments.map((one) => `${one.verdict} ${one.clause}: ${sentenceOf(one.sentence)}`);
    expect(said.at(-1)?.split(" ")[0], said.join("\n")).toBe(trap.ends);
    if (trap.ends === "live") expect(passedAt, said.join("\n")).toBeGreaterThanOrEqual(mayPass(trap));
    else expect(passedAt, said.join("\n")).toBeUndefined();
    // A failure is called one at the end of a trace only, and only where the trace ends in one.
    expect(failedAt ?? null).toBe(trap.ends === "failing" ? trap.reads.length - 1 : null);
  });
});

describe("without the clause that stops it, the batch passes", () => {
  test.each(titled.filter(([, trap]) => trap.stops !== undefined))("%s", (_title, trap) => {
    const part = trap.stops;
    if (part === undefined) return;
    expect(PARTS).toContain(part);
    expect(passesWrongly(trap, part)).toBe(true);
  });
});

describe("each clause is taken away in turn", () => {
  test.each(CLAUSE_NAMES)("without %s some batch passes that must not", (name) => {
    expect(TRAPS.filter((trap) => passesWrongly(trap, name)).map((trap) => trap.name)).not.toEqual([]);
  });

  test.each(PARTS)("and so it does without %s alone", (part) => {
    expect(TRAPS.filter((trap) => passesWrongly(trap, part)).map((trap) => trap.name)).not.toEqual([]);
  });
});

describe("each bad condition is taken for a harmless one in turn", () => {
  test.each([...BAD_CONDITIONS])("without %s a batch passes that must not", (type) => {
    const bad = TRAPS.filter((trap) => trap.stops === "conditions/bad" && JSON.stringify(trap.reads).includes(`"type":"${type}"`));
    const harmless = bad.map((trap) => ({
      ...trap,
      reads: JSON.parse(JSON.stringify(trap.reads).replaceAll(`"type":"${type}"`, '"type":"OrphanedResourceWarning"')) as Trap["reads"],
    }));
    expect(harmless.filter((trap) => play(trap).passedAt !== undefined).map((trap) => trap.name)).not.toEqual([]);
  });
});

describe("the times that are waited", () => {
  test("without the settle time a flash of health passes", () => {
    const flash = TRAPS.filter((trap) => trap.issues.includes("kargo#41"));
    for (const trap of flash) expect(play(trap, { settleMs: 0 }).passedAt).toBeLessThan(mayPass(trap));
  });

  test("without the grace a passing Degraded is a failure", () => {
    const [trap] = TRAPS.filter((one) => one.issues.includes("kargo#5108"));
    if (trap === undefined) throw new Error("the trap is gone");
    expect(play(trap).failedAt).toBeUndefined();
    expect(play(trap, { graceMs: 0 }).failedAt).toBe(2);
  });
});
