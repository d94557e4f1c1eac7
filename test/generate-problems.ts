import { readFileSync } from "node:fs";
import type { AnyReason } from "../src/core/base/reason.ts";
import type { ProblemCode, ProblemReason } from "../src/core/reasons/problems/problem.ts";
import type { RenderProblem } from "../src/core/reasons/render.ts";
import { ATTENTION } from "../src/core/report/reasons/attention.ts";
import type { Entry } from "../src/core/report/reasons/entry.ts";
import { ANALYSIS_PROBLEMS } from "../src/core/report/reasons/problems/analysis.ts";
import type { SaidProblem } from "../src/core/report/reasons/problems/entry.ts";
import { PIN_PROBLEMS } from "../src/core/report/reasons/problems/pins.ts";
import { PROBLEMS, sayProblem } from "../src/core/report/reasons/problems/problems.ts";
import { SERVER_PROBLEMS } from "../src/core/report/reasons/problems/server.ts";
import { RENDER_PROBLEMS, sayRender } from "../src/core/report/reasons/render.ts";
import { namesOf, REASONS } from "../src/core/report/reasons/say.ts";
import { PROBLEM_SAMPLES } from "../src/core/report/reasons/testing/problem-samples.ts";
import { samplesOf } from "../src/core/report/reasons/testing/reason-samples.ts";
import { RENDER_SAMPLES } from "../src/core/report/reasons/testing/render-samples.ts";
import { sayWording } from "../src/core/report/reasons/wording.ts";

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

const MOST_WORDS = 12;

type Row = Pick<Entry<never>, "means" | "todo"> & { warns?: true };

/** Every code that people look up, with its row. */
const ROWS = Object.entries<Row>(REASONS).filter(([, { means }]) => means !== undefined);

const SECTIONS: Readonly<Record<string, (code: string, row: Row) => boolean>> = {
  waits: (code) => !Object.hasOwn({ ...PROBLEMS, ...RENDER_PROBLEMS, ...ATTENTION }, code),
  attention: (code) => Object.hasOwn(ATTENTION, code),
  render: (code) => Object.hasOwn(RENDER_PROBLEMS, code),
  refused: (code, row) =>
    Object.hasOwn(PROBLEMS, code) &&
    row.warns !== true &&
    !Object.hasOwn({ ...ANALYSIS_PROBLEMS, ...PIN_PROBLEMS, ...SERVER_PROBLEMS }, code),
  warnings: (_, row) => row.warns === true,
  pins: (code) => Object.hasOwn(PIN_PROBLEMS, code),
  analyses: (code) => Object.hasOwn(ANALYSIS_PROBLEMS, code),
  server: (code) => Object.hasOwn(SERVER_PROBLEMS, code),
};

/** Where GitHub and the page show people the words, and no code; `lint` and `plan` print the code beside them. */
const SHOWS_WORDS = new Set(["waits", "attention"]);
/** Where every message says the next step behind an arrow: the page says it only where there is more to say. */
const SHOWS_STEP = new Set(["refused", "warnings", "server", "analyses", "pins", "render"]);

/** docs/troubleshooting.md, with the tables of problems made anew. */
export function troubleshootingPage(): string {
  const page = readFileSync(new URL("../docs/troubleshooting.md", import.meta.url), "utf8");
  return page.replace(/<!-- generated: (\w+) -->\n[\s\S]*?<!-- end -->/g, (all, name: string) => {
    const holds = SECTIONS[name];
    return holds === undefined
      ? all
      : `<!-- generated: ${name} -->\n${table(holds, { withExample: SHOWS_WORDS.has(name), withArrow: SHOWS_STEP.has(name) })}\n<!-- end -->`;
  });
}

function table(
  holds: (code: string, row: Row) => boolean,
  { withExample, withArrow }: { withExample: boolean; withArrow: boolean },
): string {
  const rows = ROWS.filter(([code, row]) => holds(code, row))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, { means, todo }]) => {
      const { message, hint } = exampleOf(code);
      const example = withExample ? ` ${inCell(beginningOf(message))} |` : "";
      return `| \`${code}\` | ${means} |${example} ${todo ?? (withArrow ? "→" : inCell(withoutName(hint)))} |`;
    });
  const [middle, line] = withExample ? [" for example |", " --- |"] : ["", ""];
  return [`| code | means |${middle} what to do |`, `| --- | --- |${line} --- |`, ...rows].join("\n");
}

/** A hint says the nearest name, which is the example's. */
function withoutName(hint: string): string {
  const rest = hint.replace(/^did you mean .*?\? ?/, "");
  return rest === "" ? "the message names the nearest" : rest;
}

function exampleOf(code: string): SaidProblem {
  if (Object.hasOwn(PROBLEMS, code)) return sayProblem({ code, ...PROBLEM_SAMPLES[code as ProblemCode][0] } as ProblemReason);
  if (Object.hasOwn(RENDER_PROBLEMS, code))
    return sayRender({ code, ...RENDER_SAMPLES[code as keyof typeof RENDER_SAMPLES][0], where: "" } as RenderProblem);
  const reason = samplesOf(code)[0] as AnyReason;
  return { message: sayWording(REASONS[code]?.says ?? "", reason, { ...namesOf(undefined), because: () => "…" }), hint: "" };
}

/** Enough to know a message by. */
function beginningOf(message: string): string {
  const words = message.split(" ");
  return words.length <= MOST_WORDS
    ? message
    : `${words
        .slice(0, MOST_WORDS)
        .join(" ")
        .replace(/[,:;.]?$/, " …")}`;
}

function inCell(text: string): string {
  return text.replace(/[|]/g, "\\|");
}
