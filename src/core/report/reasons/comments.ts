import { count } from "../../base/count.ts";
import type { CommentReasons } from "../../reasons/comments.ts";
import { SETTINGS_FILE } from "../../spec/repo-config.ts";
import type { Entries } from "./entry.ts";
import { didYouMean } from "./problems/entry.ts";

/** Of a word that is quoted back. */
const LONGEST_QUOTE = 40;

/** Comments that were refused before any run saw them. */
export const COMMENTS: Entries<CommentReasons> = {
  COMMENT_NOT_DONE: {
    says({ because }, names) {
      const why = names.because(because);
      return `${why}${why.endsWith("?") ? "" : "."} Nothing of this comment was done`;
    },
  },
  COMMENT_TOO_LONG: { says: () => "this comment is too long, or nested too deep, to read: write commands in a comment of their own" },
  COMMANDS_TOO_MANY: { says: ({ most }) => `a comment may hold at most ${count(most, "command")}` },
  COMMAND_UNKNOWN: { says: ({ given, near }) => `there is no command \`/${given}\`; ${didYouMean(`\`/${near}\``, "")}` },
  FLAG_UNKNOWN: {
    says({ command, flag, known, near }) {
      const hint = didYouMean(
        near && `\`--${near}\``,
        `it has ${list(
          known.map((name) => `--${name}`),
          ", ",
        )}`,
      );
      return `\`/${command}\` has no ${quoted(`--${flag}`)}: ${hint}`;
    },
  },
  FLAG_TAKES_NO_VALUE: { says: ({ command, flag }) => `\`--${flag}\` of \`/${command}\` takes no value` },
  FLAG_WANTS_VALUE: { says: ({ command, flag, value }) => `\`--${flag}\` of \`/${command}\` needs a value: \`--${flag} ${value}\`` },
  COMMAND_TAKES_NO_WORDS: {
    says: ({ command, word }) =>
      `\`/${command}\` takes no words, and here it has ${quoted(word)}: it is for the whole run. Write \`/${command}\` alone, or another command`,
  },
  COMMENTER_LACKS_PERMISSION: {
    subject: "person",
    says: ({ command, needs, has }) => `\`/${command}\` needs ${needs} permission on this repository, and you have ${has}`,
  },
  BYPASS_NOT_GIVEN: { subject: "person", says: "@{by} put the label on, and may not use `/hotfix` here" },
  BYPASS_BEFORE_HEAD: {
    subject: "person",
    says: "@{by} put the label on before the last push, or in the same second: somebody who may use `/hotfix` takes it off and puts it on again",
  },
  BYPASS_UNSEEN: { subject: "pull", says: "GitHub does not say who put the label on, or when the last push was" },
  COMMENTER_ASKS_TOO_OFTEN: {
    subject: "person",
    says: () =>
      "you wrote many commands and have no write permission on this repository: Stagecoach answers no more of yours for ten minutes",
  },
  COMMANDS_UNDECIDED: {
    subject: "file",
    says: ({ command }) =>
      `\`${SETTINGS_FILE}\` on the default branch has an error, so Stagecoach cannot tell who may use \`/${command}\`: correct it first; \`stagecoach lint\` shows where`,
  },
  COMMENTER_NOT_IN_TEAM: {
    subject: "person",
    says({ command, teams, unseen }) {
      const who = `\`/${command}\` is for members of team ${list(teams, " or ")} (\`${SETTINGS_FILE}\`)`;
      if (unseen.length === 0) return `${who}, and you are in none of them`;
      return `${who}, and Stagecoach cannot see who is in ${list(unseen, ", ")}: an owner of the organisation grants the App \`members: read\`, or the slug of the team is wrong`;
    },
  },
  COMMAND_NAMES_NO_ROLLOUT: { says: () => "this pull request steers several rollouts: say which with `--rollout NAME`" },
  COMMAND_BEFORE_RUN: {
    subject: "pull",
    says: ({ command }) =>
      `no run has begun that \`/${command}\` could be for: merging this pull request starts one. \`/plan\` makes its plan again`,
  },
  ROLLOUT_STEERED_ELSEWHERE: {
    subject: "pull",
    says: ({ here }) => `this pull request does not steer that rollout, only ${list(here, ", ")}`,
  },
};

function list(names: readonly string[], between: string): string {
  return names.map((name) => `\`${name}\``).join(between);
}

function quoted(word: string): string {
  const text = word.replaceAll("`", "'");
  return `\`${text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE - 1)}…` : text}\``;
}
