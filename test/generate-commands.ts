import { COMMANDS, type CommandSpec, ROLLOUT_FLAG } from "../src/core/spec/commands.ts";

const INTRO = `# Commands

<!-- Generated from src/core/spec/commands.ts by \`npm run generate\`; do not edit. -->

People steer a run by comments on its pull requests: the release PR, or the PR of a batch.

`;

/** How comments are read: parse.ts, plain-lines.ts, reading.ts and inbox.ts of src/surfaces/server/comments/. */
const READING = `## How a comment is read

- A command is a line of plain text that begins with \`/\` in its first column. Commands in quotes, code, lists, tables and any other
  Markdown or HTML do nothing. Neither does an edited comment, were it only a comma.
- A comment with more than 2,000 characters outside of code fences does nothing: write its commands in a comment of their own.
- Up to 10 commands may stand in one comment, one a line; they act in that order, each once. Text around them does no harm.
- A misspelt command or option, or a word too many, gets an answer, and nothing of its comment is done.
- The author's permission counts as it is when the comment is read. What was refused stays so: write it again.
  [\`.github/stagecoach.yaml\`](repo-configuration.md#who-may-give-a-command) may narrow a command to teams, and names the bots whose
  comments count.
- A comment that the bot finds more than 15 minutes late does nothing any more, except
  ${COMMANDS.filter((command) => command.anyAge === true)
    .map(({ name }) => `\`/${name}\``)
    .join(", ")}, which make things safer.
- A \`/resume\` that is older than the pause does not end it, and so with every command.
- A \`/promote\` ends what the run's page, or the pull request it is on, had shown when it was written. Within 15 s after another wait was over it counts for
  that one (\`PROMOTE_CAME_LATE\`). On a batch's pull request it is for that batch alone.
- On a batch's pull request that was closed, or built again, a command other than \`/promote\` is for the batch as it is now. If the run is over, \`/halt\` acts,
  questions are answered, and all else is refused.
- Where one release PR steers several rollouts, say which by \`--rollout NAME\`. Without it
  ${COMMANDS.filter((command) => command.onAll === true)
    .map(({ name }) => `\`/${name}\``)
    .join(", ")} are for all of them, and others are refused.
- On a release PR that is not merged yet only \`/plan\` and \`/help\` act.
- Name clusters as the status comment does, with spaces or commas between them; \`controlPlane/cluster\` where two control planes have one
  of that name.

👀 means read, 🚀 done, 😕 refused; one comment, edited in place, says why. \`/status\`, \`/plan\` and \`/help\` get a comment each.
\`stagecoach history NAME RUN\` shows what was done, and by whom.

The same from a terminal: [\`stagecoach pause NAME\`](../cli.md#promote) and its like.
`;

function row({ name, usage, who, where, summary }: CommandSpec): string {
  return `| [\`/${name}\`](#${name}) | \`${usage.replaceAll("|", "\\|")}\` | ${who} | ${where} | ${summary} |`;
}

function option({ name, value, summary }: CommandSpec["flags"][number]): string {
  return `- \`--${name}${value === undefined ? "" : ` ${value}`}\`: ${summary}\n`;
}

/** What the table does not say. */
function section({ name, examples, flags }: CommandSpec): string {
  const options = flags.length === 0 ? "" : `${flags.map(option).join("")}\n`;
  return `### ${name}\n\n${options}\`\`\`text\n${examples.join("\n")}\n\`\`\`\n`;
}

/** The reference page of the commands people comment. */
export function commandsPage(): string {
  const table = ["| command | written as | needs | where | does |", "| --- | --- | --- | --- | --- |", ...COMMANDS.map(row)].join("\n");
  return `${INTRO}${table}\n\n${READING}\n## Options and examples\n\nEach takes:\n\n${option(ROLLOUT_FLAG)}\n${COMMANDS.map(section).join("\n")}`;
}
