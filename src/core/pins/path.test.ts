import { expect, test } from "vitest";
import { sayPin } from "../report/reasons/problems/pins.ts";
import { type PinStep, parsePinPath, printPinPath } from "./path.ts";

const key = (name: string): PinStep => ({ kind: "key", key: name });

const good: [path: string, steps: PinStep[], printed?: string][] = [
  ["a.b[0].c", [key("a"), key("b"), { kind: "index", index: 0 }, key("c")]],
  ["l[name=x y].v", [key("l"), { kind: "match", key: "name", value: "x y" }, key("v")]],
  ['l["odd.key"="a]b"].v', [key("l"), { kind: "match", key: "odd.key", value: "a]b" }, key("v")], 'l[odd.key="a]b"].v'],
  ["l[url=https://x/?a=b]", [key("l"), { kind: "match", key: "url", value: "https://x/?a=b" }]],
  ['a["odd.key"].b', [key("a"), key("odd.key"), key("b")]],
  ["a['it''s']", [key("a"), key("it's")], 'a["it\'s"]'],
  ["a!b.c", [key("a"), { kind: "into" }, key("b"), key("c")]],
  ["[0]", [{ kind: "index", index: 0 }]],
  ["key-1/x_y", [key("key-1/x_y")]],
];
for (const [path, steps, printed] of good) {
  test(`${path} is read and printed`, () => {
    expect(parsePinPath(path)).toEqual({ ok: true, value: { document: undefined, steps } });
    expect(printPinPath({ document: undefined, steps })).toBe(printed ?? path);
  });
}

test("a document's number stands before the path", () => {
  expect(parsePinPath("#2/a")).toEqual({ ok: true, value: { document: 2, steps: [key("a")] } });
});

const bad: [path: string, column: number, why: RegExp][] = [
  ["", 1, /empty/],
  ["#0/a", 1, /#2\//],
  ["a..b", 3, /key is missing/],
  [".a", 1, /before the dot/],
  ["a.", 3, /key is missing/],
  ["a[", 2, /not closed/],
  ["a[x]", 3, /neither an index nor key=value/],
  ["a[]", 3, /are empty/],
  ["a[=x]", 3, /no key/],
  ['a["x]', 2, /quote is not closed/],
  ["a b", 2, /not expected/],
  ["a!", 2, /nothing follows/],
  ["!a", 1, /must follow/],
  ["a!!b", 3, /must follow/],
  ["l[c={{ cluster.name }}]", 5, /not filled in/],
];
for (const [path, column, why] of bad) {
  test(`"${path}" is refused at column ${column}`, () => {
    const parsed = parsePinPath(path);
    expect(parsed).toMatchObject({ ok: false, error: { code: "PIN_PATH_SYNTAX" } });
    const message = parsed.ok ? "" : sayPin(parsed.error).message;
    expect(message).toContain(`column ${column}:`);
    expect(message).toMatch(why);
  });
}
