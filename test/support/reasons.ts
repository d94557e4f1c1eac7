import { expect } from "vitest";
import type { AnyReason } from "../../src/core/base/reason.ts";

/* Reasons in tests, loaded before every suite: a test names the code and its data, never the words. */

declare module "vitest" {
  interface Matchers {
    /** The reason, or one that stands within it, has this code and these data. */
    toHaveCode(code: string, data?: object): void;
  }
  interface AsymmetricMatchers {
    /** A reason that has this code and these data, or has one within it. */
    toHaveCode(code: string, data?: object): unknown;
  }
}

function isReason(value: unknown): value is AnyReason {
  return typeof value === "object" && value !== null && "code" in value && typeof value.code === "string";
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
});
