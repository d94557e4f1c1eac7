import fc from "fast-check";
import { fromMarkdown } from "mdast-util-from-markdown";
import { describe, expect, test } from "vitest";
import { cpuMs, idleMs } from "../../../../test/support/cpu-time.ts";
import { parseComment } from "./parse.ts";
import { isTooCostly, linesToRead, plainLines } from "./plain-lines.ts";

const acts = (body: string): string[] | string => {
  const parsed = parseComment(body);
  return parsed.kind === "commands" ? parsed.commands.map((command) => command.text) : parsed.kind;
};

describe("what GitHub shows as something else than plain text never acts", () => {
  test.each([
    ["a quote of HTML", "<blockquote>\n\n/abort\n\n</blockquote>"],
    ["a quote of HTML that begins in a sentence", "On Monday bob wrote: <blockquote>\n/abort\n</blockquote>"],
    ["code of HTML", "I typed <code>\n/abort\n</code>"],
    ["code of HTML over paragraphs", "I typed <code>one\n\n/abort\n\ntwo</code>"],
    ["a link of HTML", "<a href='x'>\n\n/abort\n\n</a>"],
    ["what is folded away", "<details><summary>log</summary>\n\n/abort\n\n</details>"],
    ["an element in another", "<details>\n\n<b>one</b>\n\n/abort\n\n</details>"],
    ["a cell of a table of HTML", "<table>\n<tr><td>\n\n/abort\n\n</td></tr></table>"],
    ["an element that a list opens", "- <code>\n\n/abort"],
    ["an attribute that goes on", '<div title="\n\n/abort\n\n">'],
    ["tags that cross", "<blockquote><table></blockquote>\n\n/abort\n\n</table>"],
    ["an end tag that only a comment holds", "<details>\n<!-- </details> -->\n\n/abort\n\n</details>"],
    ["the first row of a table", "/abort | x\n--- | ---\n1 | 2"],
    ["a later row of a table", "a | x\n--- | ---\n/abort | y"],
    ["a row without a bar", "| a |\n|:-:|\n/abort"],
    ["an element that a cell opens", "a | x\n--- | ---\n1 | <code>\n\n/abort"],
    ["an end tag that a cell holds", "<details>\n\na | x\n--- | ---\n1 | </details>\n\n/abort"],
    ["mathematics", "$$\n/abort\n$$"],
    ["mathematics in a sentence", "as $x\n/abort\ny$ shows"],
    ["struck out text", "~~old\n/abort\n~~"],
    ["struck out text that ends in the line itself", "~old\n/abort now~ and new"],
    ["a footnote", "see[^1]\n\n[^1]: as he said in his mail\n/abort"],
  ])("%s", (_what, body) => {
    expect(acts(body)).toBe("ignore");
  });

  test.each([
    ["a quote of HTML", "<blockquote>\n\nfoo\n\n</blockquote>\n\n/abort"],
    ["what is folded away", "<details><summary>log</summary>\n\n```\nfoo\n```\n\n</details>\n\n/abort"],
    ["a list of HTML whose items have no end", "<ul>\n<li>one\n<li>two\n</ul>\n\n/abort"],
    ["a sentence with code of HTML", "I typed <code>foo</code>\n/abort"],
    ["elements that have no end", 'one<br>two <img src="a>b"> <hr/>\n/abort'],
    ["paragraphs of HTML", "<p align=center>hello\n\n/abort"],
    ["what is no element", "move <version> and <eu-1> on\n/abort"],
    ["a comment of HTML", "<!-- <details> -->\n\n/abort"],
    ["a table", "a | x\n--- | ---\n1 | <b>2</b>\n\n/abort"],
    ["sums of money", "it costs $5\n/abort\nnot $6"],
    ["about so much", "takes ~5 min\n/abort\nand ~10 after it"],
    ["a path at home, twice", "see `~/a`\n/abort\nand `~/b`"],
    ["mathematics", "$$\nx\n$$\n/abort"],
    ["a footnote", "[^1]: as he said\n\n/abort"],
  ])("a command after %s does", (_what, body) => {
    expect(acts(body)).toEqual(["/abort"]);
  });
});

describe("what only looks nested deep does not keep a command from acting", () => {
  const marks = "> - + * 1. ".repeat(4);

  test.each([
    ["a line of dashes", "/pause\n\n--------------------\nsignature", ["/pause"]],
    ["a rule of stars", "/abort\n\n************", ["/abort"]],
    ["a rule of stars with spaces", `/abort\n\n${"* ".repeat(40)}`, ["/abort"]],
    ["a rule in a quote and a list", `/abort\n\n> 1. ${"- ".repeat(40)}`, ["/abort"]],
    ["a table in a fence", "/abort latency is up\n\n```\nregion   p99\n------------------\neu-1 900\n```", ["/abort latency is up"]],
    ["a diff in a fence", "/abort\n\n```diff\n+++++++++++++ x\n------------- y\n```", ["/abort"]],
    ["marks of lists in a fence", `/abort\n\n\`\`\`\n${marks}\n\`\`\`\n/pause`, ["/abort", "/pause"]],
    ["pluses without spaces", `/abort\n\n${"+".repeat(20)} x`, ["/abort"]],
    ["a version with many dots", `/abort\n\n${"1.".repeat(20)}`, ["/abort"]],
  ])("%s", (_what, body, expected) => {
    expect(acts(body)).toEqual(expected);
  });

  test.each([
    ["a list in a list, in quotes", marks],
    ["dashes with a text after them", `${"- ".repeat(40)}x`],
    ["dashes with a star after them", `${"- ".repeat(40)}*`],
    ["dashes and stars by turns", "- * ".repeat(20)],
    ["pluses, which make no rule", "+ ".repeat(20)],
    ["quotes without spaces", ">".repeat(20)],
    ["numbers", "1. 2) ".repeat(10)],
    ["tabs", "-\t".repeat(20).concat("x")],
  ])("what is nested deep is refused: %s", (_what, line) => {
    expect(acts(`/abort\n\n${line}`)).toBe("mistake");
  });

  test("a line that is read puts the parser into no more than a few lists", () => {
    const mark = fc.constantFrom("-", "- ", "* ", "*", "+ ", "> ", ">", "1. ", "1.", "  ", "\t", "x", "_ ");
    const line = fc.array(mark, { maxLength: 40 }).map((all) => all.join(""));
    fc.assert(
      fc.property(line, (text) => {
        if (!isTooCostly([text])) expect(depthOf(fromMarkdown(text))).toBeLessThan(15);
      }),
      { numRuns: 2000 },
    );
  });
});

interface Tree {
  type: string;
  children?: readonly Tree[];
}

/** Quotes and items in each other. */
function depthOf({ type, children = [] }: Tree): number {
  return (type === "blockquote" || type === "listItem" ? 1 : 0) + Math.max(0, ...children.map(depthOf));
}

describe("a long comment", () => {
  const log = "2026-11-21T10:00:00Z error: <details> <!-- [a](b) `c` /abort\n/abort\n\n".repeat(900).slice(0, 60_000);

  test.each([
    ["at its end", `It looks bad:\n\`\`\`text\n${log}\n\`\`\`\n/pause`, ["/pause"]],
    ["before it", `/pause\n\n~~~\n${log}\n~~~`, ["/pause"]],
    ["before one that never ends", `/pause\n\`\`\`\n${log}`, ["/pause"]],
    ["after one that is folded away", `<details>\n<summary>log</summary>\n\n\`\`\`\n${log}\n\`\`\`\n\n</details>\n\n/pause`, ["/pause"]],
    ["inside of it", `\`\`\`\n${log}\n/pause\n\`\`\``, "ignore"],
    ["folded away with it", `<details>\n\n\`\`\`\n${log}\n\`\`\`\n\n/pause\n\n</details>`, "ignore"],
  ])("with a log in a fence of code: a command %s", (_where, body, expected) => {
    expect(acts(body)).toEqual(expected);
  });

  test.each([
    ["a log without a fence", `${log}\n\n/pause`],
    [
      "500 commands",
      "/pause because of the errors on the page of the shop that many see, and of the slow answers elsewhere at noon\n".repeat(580),
    ],
    ["a fence of which nobody can tell whether it is one", `<pre>\n\n\`\`\`\n</pre>\n${log}\n\`\`\`\n/pause`],
    ["quotes nested deep", `${"> ".repeat(20)}x\n\n/pause`],
  ])("is refused with a reason where it holds commands and %s", (_what, body) => {
    expect(parseComment(body)).toEqual({ kind: "mistake", because: { code: "COMMENT_TOO_LONG" } });
  });

  test.each([
    ["no line that begins with a command", "please see /pause\n"],
    ["only paths", "/var/log/syslog\n/etc/passwd\n"],
    ["only words that are no commands", "/foo bar\n/lgtm\n"],
  ])("is nothing of ours where it holds %s", (_what, line) => {
    expect(acts(line.repeat(3000))).toBe("ignore");
  });

  test("is read as if it had not been shortened", () => {
    const long = "x".repeat(3100);
    const line = fc.constantFrom(
      ...[
        "```",
        "````",
        "```sh",
        "~~~",
        "  ```",
        "    ```",
        "```  ",
        "> ```",
        "- ```",
        "  x",
        "- a",
        "1. a",
        "> q",
        "- ".repeat(20),
        `${"- ".repeat(20)}x`,
        "",
        "",
        "text",
        "/pause",
      ],
      ...["<div>", "</div>", "<pre>", "</pre>", "<!--", "-->", "<b>", "`x", "# h", "===", "\t```", "```a`b", "   ", "[a]: b"],
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 16 }), (lines) => {
        const all = ["```", long, "```", ...lines];
        const kept = linesToRead(all.join("\n"));
        expect(kept).not.toContain(long);
        expect(plainLines(kept)).toEqual(plainLines(all));
      }),
      { numRuns: 1500 },
    );
  });
});

describe("no comment holds the process up", () => {
  const marks = [
    "a",
    " ",
    "\n",
    "`",
    "<",
    "!",
    "?",
    "[",
    "]",
    "(",
    ")",
    "*",
    "-",
    ">",
    "\\",
    "&",
    "#",
    "~",
    "'",
    '"',
    "=",
    "/",
    ":",
    "|",
    "$",
    "_",
  ];
  const longer = ["1. ", "   ", "\n\n", "<!--", "<![CDATA[", "<!A", "<a", "</a>", "<a b='", "[a]", "[a]:", "```", "/abort\n", "- ", "> "];
  const all = [...marks, ...longer];
  /** One after the other from a seed, so that what is slow today is slow tomorrow. */
  const triples = (() => {
    let seed = 20261121;
    const next = () => {
      seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
      return all[(seed >> 8) % all.length] ?? "";
    };
    return Array.from({ length: 1500 }, () => next() + next() + next());
  })();
  const pieces = [...all, ...all.flatMap((a) => all.map((b) => a + b)), ...triples];

  test.each(["x<?", "<!A", "x <![CDATA[", "1. a\n   - b\n", "[a]", "_a*", "- > ", "[a]: b\n", "[a]("])(
    "65,000 characters of %j",
    (piece) => {
      expect(idleMs(() => parseComment(`${piece.repeat(65_000 / piece.length)}\n/status\n\n[a]: x`))).toBeLessThan(250);
    },
  );

  test("whatever piece is repeated, what is given to the Markdown parser is short", () => {
    for (const piece of pieces) {
      const lines = linesToRead(`/pause\n\nx${piece.repeat(65_000 / piece.length)}\n/status`);
      if (!isTooCostly(lines)) expect(lines.join("\n").length).toBeLessThanOrEqual(3000);
    }
  });

  test("the longest that is given to it is read in a moment, whatever piece it repeats", () => {
    let longest = { ms: 0, piece: "" };
    // Some of them: all take a minute.
    for (const piece of pieces.filter((_, index) => index % 30 === 0)) {
      const body = `/pause\n\nx${piece.repeat(Math.floor(2900 / piece.length))}\n/status`;
      const before = cpuMs();
      parseComment(body);
      const spent = cpuMs() - before;
      if (spent <= longest.ms) continue;
      const ms = idleMs(() => parseComment(body));
      if (ms > longest.ms) longest = { ms, piece };
    }
    // Thirty seconds for the plain parser on a whole comment.
    expect(longest.ms, JSON.stringify(longest.piece)).toBeLessThan(1000);
  }, 120_000);
});
