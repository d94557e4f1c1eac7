import { styleText } from "node:util";
import { count } from "../../../core/base/count.ts";
import { type RepoFiles, readOrNull } from "../../../core/base/repo-files.ts";
import type { Problem } from "../../../core/reasons/problems/problem.ts";
import type { Counting } from "../../../core/report/counted.ts";
import { cell, code } from "../../../core/report/escape.ts";
import { problemJson, sayProblem } from "../../../core/report/reasons/problems/problems.ts";
import { THE_APP_ID } from "../../../core/report/ruleset.ts";
import { foldLine, terminalWidth, visible } from "../print.ts";

/** What lint looked at and found. */
export interface LintReport {
  problems: Problem[];
  /** Names of the rollouts without an error of their own, with their files. */
  rollouts: { name: string; file: string }[];
  /** Files read as rollouts. */
  files: string[];
  /** Of GitHub's API, that an owner mends by what was found there. Absent: it was not asked. */
  calls?: string[];
  /** What the rollouts count of which the fleet is not known, so that nobody could say whether their stages cover it; absent: of none. */
  unjudged?: Counting[] | undefined;
}

/** The documented JSON of `stagecoach lint -o json`. */
export function lintJson({ problems, rollouts, files, calls }: LintReport): unknown {
  return { problems: problems.map(problemJson), rollouts, files, ...(calls && { calls }) };
}

type Read = (file: string) => string | null;

interface Look {
  colour?: boolean;
  columns?: number | undefined;
}

/** Tells on stderr what keeps another command from its work. */
export function tellProblems(problems: Problem[], checkout: RepoFiles, files: string[] = []): void {
  const [read, look] = [(file: string) => readOrNull(checkout, file), { columns: terminalWidth(process.stderr) }];
  // Of no files there is nothing to count.
  process.stderr.write(files.length > 0 ? lintText({ problems, rollouts: [], files }, read, look) : problemsText(problems, read, look));
}

/** The problems, and how many there are of what was looked at. */
export function lintText(report: LintReport, read: Read, look: Look = {}): string {
  const errors = report.problems.filter((problem) => problem.severity === "error").length;
  const warnings = report.problems.length - errors;
  const summary = `${sizeOf(report)}: ${count(errors, "error")}, ${count(warnings, "warning")}`;
  const lines = foldLine(styleOf(look)(errors > 0 ? "red" : warnings > 0 ? "yellow" : "green", summary), look.columns);
  return `${problemsText(report.problems, read, look)}${lines.join("\n")}\n${callsText(report.calls)}`;
}

/** Of each `file:line:column`, the line itself with a mark under the place, and what to do. */
function problemsText(problems: readonly Problem[], read: Read, look: Look): string {
  const [style, { columns }] = [styleOf(look), look];
  const lines: string[] = [];
  for (const problem of problems) {
    const { message, hint } = sayProblem(problem);
    const severity = style(problem.severity === "error" ? "red" : "yellow", problem.severity);
    const where = style("bold", `${problem.file}:${problem.line}:${problem.column}`);
    lines.push(...foldLine(`${where} ${severity} ${visible(message)} ${style("dim", problem.code)}`, columns));
    lines.push(...excerpt(problem, read, columns).map((line) => style("dim", line)), ...foldLine(`  → ${visible(hint)}`, columns), "");
  }
  return lines.map((line) => `${line}\n`).join("");
}

function styleOf({ colour = false }: Look) {
  return (format: "red" | "yellow" | "bold" | "dim" | "green", text: string) =>
    colour ? styleText(format, visible(text), { validateStream: false }) : visible(text);
}

function callsText(calls: readonly string[] = []): string {
  if (calls.length === 0) return "";
  const how = `An owner of the repository sets them once, with the App's id as a number for ${THE_APP_ID}:`;
  return `\n${[how, ...calls].join("\n\n")}\n`;
}

function sizeOf({ rollouts, files }: LintReport): string {
  return `${count(rollouts.length, "rollout")} in ${count(files.length, "file")}`;
}

const WIDEST = 120;

/** `columns`: of the terminal; what is shown of the line is cut to it, so that the mark stands below its place. */
function excerpt(
  { code: id, file, line, column }: Problem,
  read: (file: string) => string | null,
  columns = Number.POSITIVE_INFINITY,
): string[] {
  // What stands there is not to be repeated anywhere.
  if (id === "INVENTORY_CREDENTIALS" || id === "CREDENTIALS_IN_REPO") return [];
  const text = read(file)?.split("\n", line)[line - 1]?.replace(/\r$/, "");
  if (text === undefined || text.trim() === "") return [];
  // A long line is shown around the place.
  const number = String(line);
  const widest = Math.max(4, Math.min(WIDEST, columns - number.length - 5));
  const from = column > widest - Math.floor(widest / 6) ? column - Math.ceil(widest / 3) : 0;
  const shown = text.slice(from, from + widest).replaceAll("\t", " ");
  return [`  ${number} | ${shown}`, `  ${" ".repeat(number.length)} | ${" ".repeat(Math.max(0, column - 1 - from))}^`];
}

export function lintMarkdown(report: LintReport): string {
  if (report.problems.length === 0) return `${sizeOf(report)}: no problems.\n`;
  const rows = report.problems.map((p) => {
    const { message, hint } = sayProblem(p);
    const where = `${p.severity === "error" ? "❌" : "⚠️"} ${code(`${p.file}:${p.line}:${p.column}`)}`;
    return `| ${where} | ${cell(message, 500)} (${code(p.code)}) | ${cell(hint, 500)} |`;
  });
  const calls = (report.calls ?? []).map((call) => `\n\`\`\`sh\n${call}\n\`\`\`\n`);
  return `| where | what | what to do |\n| --- | --- | --- |\n${rows.join("\n")}\n${calls.join("")}`;
}
