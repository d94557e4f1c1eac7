import { expect, test } from "vitest";
import { comment } from "../../reasons/comments.ts";
import { sentenceOf } from "./say.ts";

const tooLong = comment("COMMENT_TOO_LONG");
const unknown = comment("COMMAND_UNKNOWN", { given: "paus", near: "pause" });

test("refusals of comments, in words", () => {
  const reasons = [
    comment("COMMENT_NOT_DONE", { because: tooLong }),
    comment("COMMENT_NOT_DONE", { because: unknown }),
    comment("COMMANDS_TOO_MANY", { most: 10 }),
    comment("FLAG_UNKNOWN", { command: "requeue", flag: "forr", known: ["for", "rollout"], near: "for" }),
    comment("FLAG_UNKNOWN", { command: "skip", flag: "x".repeat(60), known: ["rollout"] }),
    comment("FLAG_TAKES_NO_VALUE", { command: "promote", flag: "full" }),
    comment("FLAG_WANTS_VALUE", { command: "requeue", flag: "for", value: "DURATION" }),
    comment("COMMAND_TAKES_NO_WORDS", { command: "resume", word: "`eu-1`" }),
    comment("COMMENTER_LACKS_PERMISSION", { command: "abort", needs: "maintain", has: "read" }),
    comment("COMMANDS_UNDECIDED", { command: "promote" }),
    comment("COMMENTER_NOT_IN_TEAM", { command: "promote", teams: ["sre", "ops"], unseen: [] }),
    comment("COMMENTER_NOT_IN_TEAM", { command: "promote", teams: ["sre"], unseen: ["sre"] }),
    comment("COMMAND_NAMES_NO_ROLLOUT"),
    comment("COMMAND_BEFORE_RUN", { command: "pause" }),
    comment("ROLLOUT_STEERED_ELSEWHERE", { here: ["a", "b"] }),
  ];
  expect(reasons.map((reason) => sentenceOf(reason)).join("\n")).toMatchInlineSnapshot(`
    "this comment is too long, or nested too deep, to be read: write commands in a comment of their own. Nothing of this comment was done
    there is no command \`/paus\`; did you mean \`/pause\`? Nothing of this comment was done
    a comment may hold at most 10 commands
    \`/requeue\` has no \`--forr\`: did you mean \`--for\`?
    \`/skip\` has no \`--xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…\`: it has \`--rollout\`
    \`--full\` of \`/promote\` has no value
    \`--for\` of \`/requeue\` wants a value: \`--for DURATION\`
    \`/resume\` is for the whole run and takes no words, and here it has \`'eu-1'\`: write \`/resume\` alone, or another command
    \`/abort\` needs maintain permission on this repository, and you have read
    \`.github/stagecoach.yaml\` on the default branch has an error, so nobody can tell who may give \`/promote\`: correct it first; \`stagecoach lint\` shows where it is
    \`/promote\` is for members of team \`sre\` or \`ops\` (\`.github/stagecoach.yaml\`), and you are in none of them
    \`/promote\` is for members of team \`sre\` (\`.github/stagecoach.yaml\`), and who is in \`sre\` cannot be seen: an owner of the organisation grants Stagecoach's App \`members: read\`, or the team is named by its slug and exists
    several rollouts are steered from this pull request: say which with \`--rollout NAME\`
    there is no run yet that \`/pause\` could be for: merging this pull request starts one. \`/plan\` makes its plan anew
    no run of that rollout is steered from this pull request, only of \`a\`, \`b\`"
  `);
});
