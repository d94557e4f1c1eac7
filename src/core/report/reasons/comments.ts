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
  COMMENT_TOO_LONG: { says: () => "this comment is too long, or nested too deep, to be read: write commands in a comment of their own" },
  COMMANDS_TOO_MANY: { says: ({ most }) => `a comment may hold at most ${most} commands` },
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
  FLAG_TAKES_NO_VALUE: { says: ({ command, flag }) => `\`--${flag}\` of \`/${command}\` has no value` },
  FLAG_WANTS_VALUE: { says: ({ command, flag, value }) => `\`--${flag}\` of \`/${command}\` wants a value: \`--${flag} ${value}\`` },
  COMMAND_TAKES_NO_WORDS: {
    says: ({ command, word }) =>
      `\`/${command}\` is for the whole run and takes no words, and here it has ${quoted(word)}: write \`/${command}\` alone, or another command`,
  },
  COMMENTER_LACKS_PERMISSION: {
    subject: "person",
    says: ({ command, needs, has }) => `\`/${command}\` needs ${needs} permission on this repository, and you have ${has}`,
  },
  BYPASS_NOT_GIVEN: { subject: "person", says: "@{by}, who put it on, may not give `/hotfix` here" },
  BYPASS_BEFORE_HEAD: {
    subject: "person",
    says: "@{by} put it on before, or in the very second in which, the present head was pushed: whoever may give `/hotfix` takes it off and puts it on anew",
  },
  BYPASS_UNSEEN: { subject: "pull", says: "GitHub does not say who put it on, or when the present head was pushed" },
  COMMENTER_ASKS_TOO_OFTEN: {
    subject: "person",
    says: () =>
      "these are many commands of somebody without write permission on this repository: no more of them are answered for ten minutes",
  },
  COMMANDS_UNDECIDED: {
    subject: "file",
    says: ({ command }) =>
      `\`${SETTINGS_FILE}\` on the default branch has an error, so nobody can tell who may give \`/${command}\`: correct it first; \`stagecoach lint\` shows where it is`,
  },
  COMMENTER_NOT_IN_TEAM: {
    subject: "person",
    says({ command, teams, unseen }) {
      const who = `\`/${command}\` is for members of team ${list(teams, " or ")} (\`${SETTINGS_FILE}\`)`;
      if (unseen.length === 0) return `${who}, and you are in none of them`;
      return `${who}, and who is in ${list(unseen, ", ")} cannot be seen: an owner of the organisation grants Stagecoach's App \`members: read\`, or the team is named by its slug and exists`;
    },
  },
  COMMAND_NAMES_NO_ROLLOUT: { says: () => "several rollouts are steered from this pull request: say which with `--rollout NAME`" },
  COMMAND_BEFORE_RUN: {
    subject: "pull",
    says: ({ command }) =>
      `there is no run yet that \`/${command}\` could be for: merging this pull request starts one. \`/plan\` makes its plan anew`,
  },
  ROLLOUT_STEERED_ELSEWHERE: {
    subject: "pull",
    says: ({ here }) => `no run of that rollout is steered from this pull request, only of ${list(here, ", ")}`,
  },
};

function list(names: readonly string[], between: string): string {
  return names.map((name) => `\`${name}\``).join(between);
}

function quoted(word: string): string {
  const text = word.replaceAll("`", "'");
  return `\`${text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE - 1)}…` : text}\``;
}
