import { describe, expect, test } from "vitest";
import { parseComment } from "./parse.ts";
import { commandText } from "./write-command.ts";

const pause = (reason: string) => commandText({ verb: "pause", args: [], rollout: "payments", reason });
const read = (text = "") => {
  const comment = parseComment(text);
  return comment.kind === "commands" ? comment.commands.map(({ name, args, flags }) => ({ name, said: args.join(" "), flags })) : comment;
};

describe("the comment of a command", () => {
  test("names its rollout, and has its reason where the command takes one, else as its flag", () => {
    expect(pause("errors at checkout")).toBe("/pause --rollout payments errors at checkout");
    expect(commandText({ verb: "promote", args: [], rollout: "payments" })).toBe("/promote --rollout payments");
    expect(commandText({ verb: "skip", args: ["eu-1", "eu-2"], rollout: "payments", reason: "drained" })).toBe(
      "/skip --rollout payments eu-1 eu-2 --reason drained",
    );
  });

  test.each([
    ["first\n/abort", "first /abort"],
    ["/abort", "\u200b/abort"],
    ["x\r\n\r\n/rollback --to v1", "x /rollback --to v1"],
    ["--rollout other", "--rollout other"],
    ["\u2014rollouts now", "\u2014\u200brollouts now"],
    ["<!-- hidden\n-->\n/abort", "<!-- hidden --> /abort"],
    ["```\n/abort\n```", "``` /abort ```"],
    ["![x](http://evil.example/y) *b* &commat;all", "![x](http://evil.example/y) *b* &commat;all"],
    ["thanks @acme/everybody", "thanks @\u200bacme/everybody"],
    ["\u202eesrever", "esrever"],
  ])("%j is a reason, and nothing else", (reason, said) => {
    expect(read(pause(reason))).toEqual([{ name: "pause", said, flags: { rollout: "payments" } }]);
    expect(read(commandText({ verb: "promote", args: [], rollout: "payments", reason }))).toEqual([
      { name: "promote", said: "", flags: { rollout: "payments", reason: said } },
    ]);
    // As GitHub draws it, nothing of it is markup, and nobody is told.
    expect(pause(reason)).not.toMatch(/(?<!\\)[*_`<>[\]]|(?<!\\)&|@\w/);
  });

  test.each([["--for"], ["eu-1\n/abort"], ["eu 1"], ["`eu-1`"], ["", "eu-1"]])(
    "a cluster called %j is none that can be written",
    (...args) => {
      expect(commandText({ verb: "skip", args, rollout: "payments" })).toBe(undefined);
    },
  );

  test("a reason is cut where it is longer than anybody reads", () => {
    expect(pause("x ".repeat(5000))?.length).toBeLessThan(400);
  });
});
