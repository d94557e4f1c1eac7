import { expect, test } from "vitest";
import { cell, code, html, prose } from "./escape.ts";

const HOSTILE = "a\u001b[31m\u0007b\r\nc\u202ed\u2066e\u009bf <img src=x> **g** [h](javascript:1) @mallory | `i`";

test.each([
  ["a table's cell", cell],
  ["inline code", code],
  ["HTML of ours", html],
  ["a sentence", prose],
])("what people named cannot turn, colour or break %s", (_, say) => {
  const said = say(HOSTILE);
  expect([...said].filter((one) => /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u.test(one))).toEqual([]);
});

test("no name becomes an element, a link, emphasis or a mention", () => {
  expect(html(HOSTILE)).not.toMatch(/<|@mallory/);
  expect(cell(HOSTILE)).toContain("\\<img src=x\\> \\*\\*g\\*\\* \\[h\\](javascript:1) @\u200bmallory \\|");
});
