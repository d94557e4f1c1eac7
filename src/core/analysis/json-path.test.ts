import { expect, test } from "vitest";
import { idleMs } from "../../../test/support/cpu-time.ts";
import type { Value } from "./expr/values.ts";
import { firstAt } from "./json-path.ts";

test.each<[string, Value, Value]>([
  ["{$.a.b}", { a: { b: 1 } }, 1],
  ["{.items[-1].x}", { items: [{ x: 1 }, { x: 2 }] }, 2],
  ["{$..x}", { a: { x: 3 } }, 3],
  ['{$.items[?(@.name=="b")].x}', { items: [{ name: "a" }, { name: "b", x: 4 }] }, 4],
  ["{$['__proto__']}", JSON.parse('{"__proto__":5}') as Value, 5],
])("%s of %j is found", (path, document, expected) => {
  expect(firstAt(path, document)).toEqual(expected);
});

test.each(["{$.__proto__}", "{$.constructor}", "{$..toString}", "{$.a.length}"])("%s is nothing that every object has", (path) => {
  expect(() => firstAt(path, { a: [1] })).toThrow("PATH_EMPTY");
});

test.each(["{$..a..a..a..a..a}", "{$..a..a..a..a..a.nowhere}", '{$..a[?(@.a=="x")]}', `{$..${"a..".repeat(300)}a}`])(
  "%s looks at so many values and no more, however the answer nests",
  (path) => {
    let deep: Value = [];
    for (let i = 0; i < 90; i++) deep = { a: deep };
    const wide: Value = Array.from({ length: 3000 }, () => [{ a: deep }]);
    expect(idleMs(() => expect(() => firstAt(path, wide)).toThrow(/PATH_COSTLY|PATH_EMPTY/))).toBeLessThan(1000);
  },
);
