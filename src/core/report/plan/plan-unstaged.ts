import type { AnyReason } from "../../base/reason.ts";
import { cell, code, prose } from "../escape.ts";
import { firstOf } from "../markdown.ts";
import { sentenceOf } from "../reasons/say.ts";
import { shortName } from "../words.ts";
import { short } from "./plan-chart.ts";

/** The label by which people say that a PR is meant to pass the stages by. */
export const BYPASS_LABEL = "stagecoach/bypass";

const MOST_NAMED = 15;

/** docs/spec.md §9.6 in one paragraph: which clusters a PR would change at once, and what to do about it. Markdown, harmless. `against`: the label's worth. */
export function unstagedLine(
  rollout: string,
  unstaged: readonly { application: string; cluster: string; why: AnyReason }[],
  { held, against }: { held: "refused" | "allowed" | "bypassed"; against?: AnyReason | undefined },
): string {
  const names = [...new Set(unstaged.map(({ cluster, application }) => (cluster === "" ? application : shortName(cluster))))];
  const who = firstOf(
    names.map((name) => code(short(name, 60))),
    MOST_NAMED,
  );
  const [first] = unstaged;
  const example = first === undefined ? "" : ` ${code(short(first.application, 100))}: ${cell(sentenceOf(first.why), 200)}.`;
  const what = `**UNSTAGED** Merging this PR changes ${who} at once, past the stages of **${cell(rollout)}**.${example}`;
  if (held === "allowed") return `${what} The rollout has \`allowUnstaged: true\`.`;
  if (held === "bypassed") return `${what} The PR is labelled \`${BYPASS_LABEL}\`.`;
  const why = against === undefined ? "" : ` The label \`${BYPASS_LABEL}\` does not count: ${prose(sentenceOf(against))}.`;
  return `${what}${why} Put the release where no Application reads it; or, where it is meant, have somebody who may give \`/hotfix\` label the PR \`${BYPASS_LABEL}\`, or set \`allowUnstaged: true\`.`;
}
