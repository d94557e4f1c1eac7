import { describe, expect, expectTypeOf, test } from "vitest";
import { defined } from "./defined.ts";

interface Batch {
  readonly kind: "forward" | "back";
  readonly name: string;
  readonly why?: string;
  readonly at?: { readonly line: number; readonly of: "file" | "folder" };
}

type Either = { readonly kind: "a"; readonly one?: number } | { readonly kind: "b"; readonly two: string };

function maybe<T>(value: T, given: boolean): T | undefined {
  return given ? value : undefined;
}

describe("defined", () => {
  test("leaves out the keys without a value, and keeps null, 0, false and the empty text", () => {
    const object = defined({ a: undefined, b: null, c: 0, d: false, e: "" });
    expect(Object.keys(object)).toEqual(["b", "c", "d", "e"]);
  });

  test("keeps the order of keys, which printed JSON shows", () => {
    expect(JSON.stringify(defined({ z: 1, y: undefined, a: 2 }))).toBe('{"z":1,"a":2}');
  });

  test("copies a key called __proto__ as a key", () => {
    const parsed = defined(JSON.parse('{"__proto__": 1}') as object);
    expect(Object.keys(parsed)).toEqual(["__proto__"]);
  });

  test("is assignable to a type with optional keys, its literals kept, also further in", () => {
    const batch: Batch = defined({
      kind: "back",
      name: "eu",
      why: maybe("late", false),
      at: maybe({ line: 1, of: "file" as const }, true),
    });
    expect(batch).toEqual({ kind: "back", name: "eu", at: { line: 1, of: "file" } });
    const nested: Batch = defined({ kind: "forward", name: "eu", at: { line: 1, of: "folder" } });
    expect(nested.at?.of).toBe("folder");
    function either(given: boolean): Either {
      return given ? defined({ kind: "a", one: maybe(1, true) }) : defined({ kind: "b", two: "x" });
    }
    expect(either(true)).toEqual({ kind: "a", one: 1 });
  });

  test("makes a key optional exactly where its value may be undefined", () => {
    const object = defined({ sure: 1, perhaps: maybe("x", true) });
    expectTypeOf(object).toEqualTypeOf<{ sure: number; perhaps?: string }>();
    const spread: Batch = { kind: "back", name: "eu", ...defined({ why: maybe("late", true) }) };
    expect(spread.why).toBe("late");
    // @ts-expect-error: a key that may be missing is not one that is there
    const wrong: { perhaps: string } = object;
    expect(wrong.perhaps).toBe("x");
  });

  test("does not widen a list, nor take a list's own keys apart", () => {
    const object: { readonly list: readonly string[]; readonly set?: Set<string> } = defined({
      list: ["a"],
      set: maybe(new Set(["a"]), true),
    });
    expect(object.list).toEqual(["a"]);
  });
});
