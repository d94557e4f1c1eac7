import { fromMarkdown } from "mdast-util-from-markdown";
import { expect, test } from "vitest";
import { cell, code, html, prose, withoutMarkdown } from "./escape.ts";

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

test("no mention is spelled by a character reference, which GitHub resolves before it looks for names", () => {
  const said = "5 & 6 &commat;acme/all &#64;eve &#x40;eve \\&commat;eve";
  for (const drawn of [cell(said), prose(said)]) {
    const [paragraph] = fromMarkdown(drawn).children;
    const [text] = paragraph?.type === "paragraph" ? paragraph.children : [];
    expect(text).toMatchObject({ type: "text", value: said });
  }
  expect(withoutMarkdown(cell(said))).toBe(said);
});
