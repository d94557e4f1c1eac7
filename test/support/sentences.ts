import { expect } from "vitest";
import type { AnyReason } from "../../src/core/base/reason.ts";
import { sentenceOf } from "../../src/core/report/reasons/say.ts";

/*
 * Reasons in tests, loaded before every suite: `toSay` looks into the sentence that the report makes of a reason without a run at hand. Where a
 * test can name the code, it does.
 */

declare module "vitest" {
  interface Matchers {
    /** The reason's sentence has this text in it, or matches. */
    toSay(expected: string | RegExp): void;
    /** The reason, or one that stands within it, has this code and these data. */
    toHaveCode(code: string, data?: object): void;
  }
  interface AsymmetricMatchers {
    /** A reason whose sentence has this text in it, or matches. */
    toSay(expected: string | RegExp): unknown;
    /** A reason that has this code and these data, or has one within it. */
    toHaveCode(code: string, data?: object): unknown;
  }
}

function isReason(value: unknown): value is AnyReason {
  return typeof value === "object" && value !== null && "code" in value && typeof value.code === "string";
}

function sentence(value: unknown): string | undefined {
  return typeof value === "string" || isReason(value) ? sentenceOf(value) : undefined;
}

/** A reason and all that stand within its data, wherever that is. */
function reasonsIn(value: unknown): AnyReason[] {
  if (typeof value !== "object" || value === null) return [];
  return [...(isReason(value) ? [value] : []), ...Object.values(value).flatMap(reasonsIn)];
}

expect.extend({
  toHaveCode(received: unknown, code: string, data: object = {}) {
    const pass = reasonsIn(received).some((one) => this.equals(one, expect.objectContaining({ code, ...data })));
    const [given, wanted] = [received, { code, ...data }].map((one) => JSON.stringify(one, undefined, 2));
    return { pass, message: () => `${given}\n${pass ? "has" : "has not"}\n${wanted}` };
  },
  toSay(received: unknown, expected: string | RegExp) {
    const said = sentence(received);
    const pass = said !== undefined && (typeof expected === "string" ? said.includes(expected) : expected.test(said));
    return { pass, message: () => `${said ?? String(received)}\n${pass ? "says" : "does not say"}\n${expected}` };
  },
});
