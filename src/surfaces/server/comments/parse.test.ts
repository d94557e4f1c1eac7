import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseComment } from "./parse.ts";

function names(body: string): string[] | string {
  const parsed = parseComment(body);
  return parsed.kind === "commands" ? parsed.commands.map((c) => c.name) : parsed.kind;
}

describe("commands in a comment", () => {
  test.each<[string, string, string[] | string]>([
    ["a line of its own", "/pause", ["pause"]],
    ["after a sentence, on a new line", "Let us wait.\n/pause traffic is odd", ["pause"]],
    ["several, in order", "/requeue eu-1\n\n/promote", ["requeue", "promote"]],
    ["with Windows line ends", "/pause\r\n/resume\r\n", ["pause", "resume"]],
    ["in capitals", "/PAUSE", ["pause"]],
    ["in the middle of a line", "please /pause", "ignore"],
    ["indented", "    /pause", "ignore"],
    ["in a quote", "> /pause\n\nwhy did you do that?", "ignore"],
    ["in the line that lazily goes on with a quote", "> he said\n/pause", "ignore"],
    ["in a quote inside a list", "- > /pause", "ignore"],
    ["in a list item", "- hello\n\n  /pause", "ignore"],
    ["in fenced code", "```\n/pause\n```", "ignore"],
    ["in fenced code that is never closed", "```\n/pause", "ignore"],
    ["in a tilde fence", "~~~sh\n/pause\n~~~", "ignore"],
    ["in inline code over two lines", "`see\n/pause` there", "ignore"],
    ["in a link's text over two lines", "[see\n/pause](https://example.com)", "ignore"],
    ["in an HTML comment", "<!--\n/pause\n-->", "ignore"],
    ["in an HTML block", "<details>\n/pause\n</details>", "ignore"],
    ["in a heading", "# /pause", "ignore"],
    ["in a heading that is underlined", "/pause\n===", "ignore"],
    ["a path", "/etc/passwd", "ignore"],
    ["a command of another bot", "/lgtm", "ignore"],
    ["a mere slash", "/", "ignore"],
    ["no text", "", "ignore"],
  ])("%s", (_name, body, expected) => {
    expect(names(body)).toEqual(expected);
  });

  test("arguments and flags, with or without code marks and commas", () => {
    expect(parseComment("/requeue `eu-1`, eu-2 --for 2h --rollout=payments\n/promote --FULL")).toMatchObject({
      kind: "commands",
      commands: [
        { name: "requeue", args: ["eu-1", "eu-2"], flags: { for: "2h", rollout: "payments" } },
        { name: "promote", args: [], flags: { full: true } },
      ],
    });
  });

  test("a telephone's long dash is as good as two short ones", () => {
    expect(parseComment("/requeue eu-1 —for 2h")).toMatchObject({ commands: [{ args: ["eu-1"], flags: { for: "2h" } }] });
  });

  test("a reason is kept as it is written, whatever looks like a flag in it", () => {
    expect(parseComment("/pause --rollout payments slow, `p99` over 2s -- see --dashboard")).toMatchObject({
      commands: [{ args: ["slow,", "`p99`", "over", "2s", "--", "see", "--dashboard"], flags: { rollout: "payments" } }],
    });
  });

  test.each(["--reason", "--reason=", "—reason"])("what stands behind %s is the reason, whatever it looks like", (flag) => {
    const text = `/skip eu-1 --rollout payments ${flag}${flag.endsWith("=") ? "" : " "}its disk, \\--for now eu-2`;
    expect(parseComment(text)).toMatchObject({
      commands: [{ args: ["eu-1"], flags: { rollout: "payments", reason: "its disk, --for now eu-2" } }],
    });
  });

  test.each([
    ["/requeue eu-1 --forr 2h", { code: "FLAG_UNKNOWN", command: "requeue", flag: "forr", near: "for" }],
    ["/skip eu-1 --verbose", { code: "FLAG_UNKNOWN", flag: "verbose", known: ["reason", "rollout"] }],
    ["/skip eu-1 --reason", { code: "FLAG_WANTS_VALUE", flag: "reason" }],
    ["/requeue eu-1 --for", { code: "FLAG_WANTS_VALUE", command: "requeue", flag: "for", value: "DURATION" }],
    ["/requeue eu-1 --for --rollout a", { code: "FLAG_WANTS_VALUE", flag: "for" }],
    ["/promote --full=yes", { code: "FLAG_TAKES_NO_VALUE", command: "promote", flag: "full" }],
    ["/promote eu-1", { code: "COMMAND_TAKES_NO_WORDS", command: "promote", word: "eu-1" }],
    ["/rollback --t v1", { code: "FLAG_UNKNOWN", command: "rollback", flag: "t" }],
  ])("%s is a mistake, and nothing of the comment acts", (line, because) => {
    expect(parseComment(`/pause\n${line}`)).toMatchObject({ kind: "mistake", because });
  });

  test("a misspelt command is answered with the nearest one, and nothing of the comment acts", () => {
    expect(parseComment("/resume\n/paus")).toEqual({ kind: "mistake", because: { code: "COMMAND_UNKNOWN", given: "paus", near: "pause" } });
  });

  test("eleven commands in one comment are refused as a whole", () => {
    const eleven = "/pause because of the errors\n".repeat(11);
    expect(parseComment(eleven)).toEqual({ kind: "mistake", because: { code: "COMMANDS_TOO_MANY", most: 10 } });
  });

  test("a flag cannot reach the prototype", () => {
    const parsed = parseComment("/pause --__proto__=x --constructor");
    expect(parsed.kind === "commands" && Object.getPrototypeOf(parsed.commands[0]?.flags)).toBe(Object.prototype);
    expect(parseComment("/skip --__proto__=x")).toMatchObject({ commands: [{ args: ["--__proto__=x"], flags: {} }] });
  });

  test("any text gives an answer, and quoting a comment never makes it act", () => {
    const text = fc.array(
      fc.constantFrom("/pause", "/abort x", "> q", "```", "`", "text", "", "    ", "<!--", "-->", "- item", "[a", "](b)", "*", "\t/pause"),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(text, (lines) => {
        expect(["commands", "mistake", "ignore"]).toContain(parseComment(lines.join("\n")).kind);
        expect(parseComment(lines.map((line) => `> ${line}`).join("\n")).kind).toBe("ignore");
      }),
      { numRuns: 300 },
    );
  });
});
