import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { badCondition } from "./evaluate.ts";
import { functions } from "./functions.ts";
import { BINARY, PREDICATES } from "./syntax.ts";

const PAGE = readFileSync(new URL("../../../../docs/analysis.md", import.meta.url), "utf8");
/** The two cells of what conditions have and what they lack, an escaped `|` within them. */
const [, has = "", lacks = ""] = /^\| (`== .*?) \| ((?:`matches`|variables).*) \|$/m.exec(PAGE) ?? [];

test("docs/analysis.md names every function of conditions, and no other", () => {
  const [, predicates = "", others = ""] = has.split(";").map((part) => part.replaceAll("`", "").trim());
  expect(predicates.split(" ").sort()).toEqual([...PREDICATES].sort());
  expect([...others.split(" "), "sum"].sort()).toEqual(Object.keys(functions).sort());
});

test("and as an operator only what is not refused", () => {
  for (const op of BINARY.keys()) {
    const isRefused = badCondition(op === "|" ? "result | len()" : `result ${op} result`) !== undefined;
    const words = (cell: string) =>
      cell
        .replaceAll("\\|", "|")
        .replaceAll("`", "")
        .split(/[\s,;]+/);
    const isTold = words(op === "|" ? has.replace("pipes", "|") : has).includes(op);
    expect([op, isTold], op).toEqual([op, !isRefused]);
    if (isRefused) expect(words(lacks)).toContain(op);
  }
});
