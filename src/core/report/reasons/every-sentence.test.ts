/**
 * Writes every sentence that people read into one file, to be read from end to end: `__snapshots__/every-sentence.md`.
 *
 * What bots that people are used to say was read beside it:
 * - Renovate (`dependency-dashboard.ts`, `pr/body/config-description.ts`, `error-config.ts` of renovatebot/renovate) says a state in one clause and the way out in the
 *   next: "blocked by an existing closed PR. To recreate the PR, click …"; its schedules are read out with their zone.
 * - Atlantis (`project_locker.go` of runatlantis/atlantis) says what holds a command up by its pull request, both ways out, and the very comment
 *   to write: "Once the lock is released, comment `atlantis plan` here".
 * - Mergify's reviewers took "ahead in queue got removed" for a riddle: the pull request is named first, by its number, and once.
 *
 * So: who acts comes first, then what is awaited or why; a verb the reader can use; times with their zone. A reason that stands behind another
 * begins lower case and has no stop; where it stands by itself `wholeSentence` gives it both.
 */
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { AnyReason } from "../../base/reason.ts";
import type { ProblemReason } from "../../reasons/problems/problem.ts";
import type { RenderProblem } from "../../reasons/render.ts";
import { COMMANDS } from "../../spec/commands.ts";
import { sayExpression, sayMetric } from "./analysis.ts";
import type { Entry } from "./entry.ts";
import { PROBLEMS, sayProblem } from "./problems/problems.ts";
import { RENDER_PROBLEMS, sayRender } from "./render.ts";
import { namesOf, TABLES, wholeSentence } from "./say.ts";
import { sayTemplateFailure } from "./templates.ts";
import { conditionFailure, FAILING_CONDITIONS, FAILING_PATHS, METRIC_ENDS, pathFailure } from "./testing/expression-samples.ts";
import { PROBLEM_SAMPLES } from "./testing/problem-samples.ts";
import { samplesOf } from "./testing/reason-samples.ts";
import { RENDER_SAMPLES } from "./testing/render-samples.ts";
import { FAILING_TEMPLATES, templateFailure } from "./testing/template-samples.ts";
import { sayWording } from "./wording.ts";

/** A code in each of its ways; then what it is about, the commands that answer it, and its help. */
function reasonLines(code: string, { says, subject, actions = [], means, todo }: Entry<never>): string[] {
  const about = [subject ?? [], actions.map((action) => `\`/${action}\``)].flat();
  const said = samplesOf(code).map((sample) => {
    const reason: AnyReason & Record<string, unknown> = { code };
    const fields = new Proxy(sample, { get: (own, field) => (reason[String(field)] = own[String(field)]) });
    // What is shown of a reason that cannot be said would pass for its sentence: so it is said without a net first.
    sayWording(says, fields, namesOf(undefined));
    return `- ${wholeSentence(reason)}`;
  });
  const help = [means === undefined ? [] : `- *means:* ${means}`, todo === undefined ? [] : `- *to do:* ${todo}`].flat();
  return [`**\`${code}\`**${about.length === 0 ? "" : ` (${about.join(", ")})`}`, "", ...said, ...help, ""];
}

/** A problem in each of its kinds, with its next step. */
function problemLines(code: string, samples: readonly object[], say: (reason: AnyReason) => { message: string; hint: string }): string[] {
  const said = samples.map((data) => {
    const { message, hint } = say({ code, ...data });
    return `- ${message} → ${hint}`;
  });
  return [`**\`${code}\`**`, "", ...said, ""];
}

function shown(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function failed<Reason>(reason: Reason | undefined): Reason {
  if (reason === undefined) throw new Error("a sample of a failure does not fail");
  return reason;
}

/** Words of the program for itself: a cluster is *healthy* to people, and what is still checked of it is said. */
const INTERNAL =
  /\b(?:(?:un)?settled|settl(?:es|ing)|(?:un)?confirm(?:s|ed)?|baked|bakes|live|lives|mirrors?|rounds?|lanes?|snapshots?|journalled|amendments?|shards?|dips?|ailments?|nudges?|lapse[sd]?|verdicts?|intentions?)\b/i;

/** Where such a word is another's: the code, and whose it is. */
const OF_OTHERS: Readonly<Record<string, string>> = {
  BASE_NOT_DEFAULT: "the sample's branch is called live",
  BASE_REVISION: "the sample's branch is called live",
};

/** The lines of people's text that hold a word of the program's own, behind their code. */
function internalWords(text: string): string[] {
  let code = "";
  return text.split("\n").flatMap((line) => {
    code = /^\*\*`(\w+)`/.exec(line)?.[1] ?? code;
    return line.startsWith("- ") && INTERNAL.test(line) && OF_OTHERS[code] === undefined ? [`${code} ${line}`] : [];
  });
}

/** The first word of a next step: what a reader can do. A new one is looked at before it is added. */
const VERBS = new Set(
  `add apply ask begin bind bring change check choose close compare correct create declare define finish flatten give go have hold hydrate keep
  label leave let list make measure merge move name nest pick pin print push put raise read reformat register remove rename replace report say
  separate set shorten simplify spell split switch take use wait write yield`.split(/\s+/),
);

/** What a rule for prose refuses in a line of people's text, by the name of the rule. */
const RULES: Readonly<Record<string, (said: string, step: string | undefined, code: string) => boolean>> = {
  "begins with a capital, a sign or a name": (said, step) => step === undefined && /^(?:an?|the|it|its|no|not|waiting|there)\b/.test(said),
  "ends once": (said, step) => /\w(?:[.,;:!?]{2}(?=\s|$)|[.,;:]\s+[.,;:](?=\s|$))/.test(`${said} ${step ?? ""}`),
  "has one space between words": (said, step) => / {2}/.test(`${said} ${step ?? ""}`),
  "has times with their zone": (said) => /\b\d\d:\d\d(?::\d\d)?(?!:\d|.*UTC| in)\b/.test(said.replaceAll(/[\w./-]+:\d+:\d+/g, "")),
  "has durations as people say them": (said) => /\b\d+ ?ms\b|\b\d{4,} ?s\b/.test(said),
  "has a next step that begins with what to do": (_, step) =>
    step !== undefined && !/^did you mean /.test(step) && !VERBS.has(step.split(/[ :,]/)[0] ?? ""),
  "has a next step that is not the message again": (said, step) => step !== undefined && said.includes(step.split(/[;:,]/)[0] ?? step),
  "is short enough to be read": (said, step) => said.length > 420 || (step ?? "").length > 260,
  "has no more than 40 words a sentence": (said) => said.split(/[.?!]\)? /).some((one) => one.split(" ").length > 40),
  "has no more than 26 words in a row": (said, step) =>
    [said, step ?? ""].some((text) =>
      withoutCode(text)
        .split(/[.;:?!]\)? /)
        .some((part) => part.split(" ").length > 26),
    ),
  "says of what is next who or what it is": (said, _, code) => /^(?:NEXT|ASK)_/.test(code) && /^(?:It|Its|They|Their|Them)\b/.test(said),
  "marks a command as code": (said) => COMMAND.test(withoutCode(said)),
  "counts one of one": (said) => /(?<!batch |[\w.-])1 (?!has\b|is\b|does\b|was\b|contains\b)[a-z]+s\b/.test(said),
  "begins small behind a colon": (said) => /: (?:An?|It|Its|None|Somebody|The|Waiting) /.test(said),
};

/** The commands of people, where no path, range or address is meant. */
const COMMAND = new RegExp(`(?<![\\w/.*-])/(?:${COMMANDS.map(({ name }) => name).join("|")})\\b(?!/)`);

function withoutCode(text: string): string {
  return text.replaceAll(/`[^`]*`/g, "code");
}

/** Places of the docs that a text names and that are not there, as a heading or at all. */
async function lostPlaces(text: string): Promise<string[]> {
  const named = [...new Set(text.match(/\bdocs\/[\w-]+\.md(?:#[\w-]+)?/g))];
  const there = await Promise.all(
    named.map(async (place) => {
      const [file = "", anchor] = place.split("#");
      const page = await readFile(file, "utf8").catch(() => "");
      const anchors = [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
        heading
          .toLowerCase()
          .replace(/[^\w\s-]/g, "")
          .replace(/\s/g, "-"),
      );
      return page !== "" && (anchor === undefined || anchors.includes(anchor));
    }),
  );
  return named.filter((_, at) => there[at] !== true);
}

/** The lines of people's text that a rule refuses, behind the rule and their code. */
function refusedLines(text: string): string[] {
  let code = "";
  return text.split("\n").flatMap((line) => {
    code = /^\*\*`(\w+)`/.exec(line)?.[1] ?? code;
    if (!line.startsWith("- ") || /^- \*(?:means|to do):/.test(line)) return [];
    const [, said = line.slice(2), step] = /^- (.*) → (.*)$/.exec(line) ?? [];
    return Object.entries(RULES).flatMap(([rule, refuses]) => (refuses(said, step, code) ? [`${rule}: ${code} ${line}`] : []));
  });
}

test("every sentence stands in one file, in each of its ways, with what it is about", async () => {
  const reasons = Object.entries(TABLES).flatMap(([title, table]) => [
    `## ${title}`,
    "",
    ...Object.entries<Entry<never>>(table).flatMap(([code, entry]) => reasonLines(code, entry)),
  ]);
  const problems = Object.keys(PROBLEMS).flatMap((code) =>
    problemLines(code, PROBLEM_SAMPLES[code as keyof typeof PROBLEM_SAMPLES], (reason) => sayProblem(reason as ProblemReason)),
  );
  const render = Object.keys(RENDER_PROBLEMS).flatMap((code) =>
    problemLines(code, RENDER_SAMPLES[code as keyof typeof RENDER_SAMPLES], (reason) =>
      sayRender({ ...reason, where: "spec" } as unknown as RenderProblem),
    ),
  );
  const templates = FAILING_TEMPLATES.map((one) => `- template \`${shown(one)}\`: ${sayTemplateFailure(failed(templateFailure(one)))}`);
  const conditions = FAILING_CONDITIONS.map((one) => `- condition \`${shown(one)}\`: ${sayExpression(failed(conditionFailure(one)))}`);
  const paths = FAILING_PATHS.map(
    (one) => `- path \`${shown(one)}\`: ${sayExpression(failed(pathFailure(one))).replaceAll(one, shown(one))}`,
  );
  const metrics = METRIC_ENDS.map((reason) => `- metric webcheck: ${sayMetric(reason)}`);
  const head = [
    "# Every sentence",
    "",
    "Written by `every-sentence.test.ts`, from samples; `npm test -- src/core/report/reasons -u` writes it anew.",
    "",
  ];
  const text = [
    ...head,
    ...reasons,
    "## Problems of files, plans and servers",
    "",
    ...problems,
    "## Sets that cannot be rendered",
    "",
    ...render,
    ...["## Templates that fail", "", ...templates, ""],
    ...["## Conditions, paths and metrics", "", ...conditions, ...paths, ...metrics, ""],
  ].join("\n");
  expect(
    text.split("\n").filter((line) => /undefined(?! variable)|\[object|\bNaN\b|\bnull\b/.test(line) && !/null is not text/.test(line)),
  ).toEqual([]);
  expect(internalWords(text)).toEqual([]);
  expect(refusedLines(text)).toEqual([]);
  expect(await lostPlaces(text)).toEqual([]);
  await expect(text).toMatchFileSnapshot("__snapshots__/every-sentence.md");
});
