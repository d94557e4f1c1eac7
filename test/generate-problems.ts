import { readFileSync } from "node:fs";
import type { ProblemCode, ProblemReason } from "../src/core/reasons/problem.ts";
import { ANALYSIS_HELP } from "../src/core/report/reasons/help-analysis.ts";
import { FILE_HELP } from "../src/core/report/reasons/help-file.ts";
import { PLAN_HELP } from "../src/core/report/reasons/help-plan.ts";
import { REPO_HELP } from "../src/core/report/reasons/help-repo.ts";
import { RULES_HELP } from "../src/core/report/reasons/help-rules.ts";
import type { Help } from "../src/core/report/reasons/problem-entry.ts";
import { sayProblem } from "../src/core/report/reasons/problems.ts";
import { PROBLEM_SAMPLES } from "../src/core/report/reasons/testing/problem-samples.ts";

/** The rows of a page's tables: code → the row's other cells. */
export function codesOnPage(text: string): Map<string, string[]> {
  const codes = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [, code, rest] = /^\| `([A-Za-z_]+)` \|(.*)\|$/.exec(line) ?? [];
    if (code !== undefined && rest !== undefined)
      codes.set(
        code,
        rest.split(/(?<!\\)\|/).map((cell) => cell.trim()),
      );
  }
  return codes;
}

/** Every code of a problem, with its row: the compiler asks for those that are missing. */
const HELP: Readonly<Record<ProblemCode, Help>> = { ...FILE_HELP, ...RULES_HELP, ...PLAN_HELP, ...REPO_HELP, ...ANALYSIS_HELP };

const SECTIONS: Readonly<Record<string, (code: string, help: Help) => boolean>> = {
  refused: (code, help) => help.warns !== true && !Object.hasOwn(ANALYSIS_HELP, code),
  warnings: (_, help) => help.warns === true,
  analyses: (code) => Object.hasOwn(ANALYSIS_HELP, code),
};

/** docs/troubleshooting.md, with the tables of problems made anew. */
export function troubleshootingPage(): string {
  const page = readFileSync(new URL("../docs/troubleshooting.md", import.meta.url), "utf8");
  return page.replace(/<!-- generated: (\w+) -->\n[\s\S]*?<!-- end -->/g, (all, name: string) => {
    const holds = SECTIONS[name];
    return holds === undefined ? all : `<!-- generated: ${name} -->\n${table(holds)}\n<!-- end -->`;
  });
}

function table(holds: (code: string, help: Help) => boolean): string {
  const rows = (Object.entries(HELP) as [ProblemCode, Help][])
    .filter(([code, help]) => holds(code, help))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, help]) => `| \`${code}\` | ${help.means} | ${exampleOf(code)} | ${help.todo} |`);
  return ["| code | means | for example | what to do |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

function exampleOf(code: ProblemCode): string {
  const reason = { code, ...PROBLEM_SAMPLES[code][0] } as ProblemReason;
  return sayProblem(reason).message.replace(/[|]/g, "\\|");
}
