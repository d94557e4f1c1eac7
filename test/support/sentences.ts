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
  }
  interface AsymmetricMatchers {
    /** A reason whose sentence has this text in it, or matches. */
    toSay(expected: string | RegExp): unknown;
  }
}

function isReason(value: unknown): value is AnyReason {
  return typeof value === "object" && value !== null && "code" in value && typeof value.code === "string";
}

function sentence(value: unknown): string | undefined {
  return typeof value === "string" || isReason(value) ? sentenceOf(value) : undefined;
}

expect.extend({
  toSay(received: unknown, expected: string | RegExp) {
    const said = sentence(received);
    const pass = said !== undefined && (typeof expected === "string" ? said.includes(expected) : expected.test(said));
    return { pass, message: () => `${said ?? String(received)}\n${pass ? "says" : "does not say"}\n${expected}` };
  },
});
