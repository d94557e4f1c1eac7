/**
 * Writes every sentence that people read into one file, to be read from end to end: `__snapshots__/every-sentence.md`.
 *
 * What two bots that people are used to say was read beside it:
 * - Renovate (`lib/workers/repository/error-config.ts`, `lib/workers/repository/update/branch/handle-existing.ts` of renovatebot/renovate)
 *   names itself as who acts, says what it will do and until when ("will stop PRs until it is resolved"), and puts the place, the kind and the message of an error each
 *   in a line of its own. It does not say what to write instead; ours do, in the step behind the arrow.
 * - Atlantis (`server/events/project_locker.go` of runatlantis/atlantis) says what holds a command up by its pull request, both ways out, and
 *   the very comment to write afterwards. Its errors are Go's, lower case, passed on as they are. We take the first, and put what another
 *   program said behind a colon, after what it keeps us from.
 *
 * So: who acts comes first, then what is awaited or why; a verb the reader can use; times with their zone. A reason that stands behind another
 * begins lower case and has no stop; where it stands by itself `wholeSentence` gives it both.
 */
import { expect, test } from "vitest";
import type { AnyReason } from "../../base/reason.ts";
import type { ProblemReason } from "../../reasons/problem.ts";
import type { RenderProblem } from "../../reasons/render.ts";
import type { Entry } from "./entry.ts";
import { PROBLEMS, sayProblem } from "./problems/problems.ts";
import { RENDER_PROBLEMS, sayRender } from "./render.ts";
import { namesOf, TABLES, wholeSentence } from "./say.ts";
import { PROBLEM_SAMPLES } from "./testing/problem-samples.ts";
import { samplesOf } from "./testing/reason-samples.ts";
import { RENDER_SAMPLES } from "./testing/render-samples.ts";
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
  ].join("\n");
  expect(text.split("\n").filter((line) => /undefined|\[object|NaN|\bnull\b/.test(line) && !/null is not text/.test(line))).toEqual([]);
  expect(internalWords(text)).toEqual([]);
  await expect(text).toMatchFileSnapshot("__snapshots__/every-sentence.md");
});
