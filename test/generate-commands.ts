import { COMMANDS, type CommandSpec } from "../src/rollout/commands.ts";

const INTRO = `# Commands

<!-- Generated from src/rollout/commands.ts by \`npm run generate\`; do not edit. -->

People steer a run by comments on its pull requests: the release PR, or the PR of a batch.

`;

/** How comments are read: src/bot/parse-comment.ts and src/bot/command-inbox.ts. */
const READING = `## How a comment is read

- A command is a line of plain text that begins with \`/\` in its first column. In quotes, code, lists, headings, links and HTML it
  is text, and so it is in a comment that was edited.
- Up to 10 commands may stand in one comment, one a line; they act in that order, each once. Text around them does no harm.
- A misspelt command gets an answer, and nothing of its comment is done.
- The author's permission on the repository counts, as it is when the comment is read. Comments of bots do not count.
- A comment that is found more than 15 minutes after it was written (the bot was down) does nothing any more, except
  \`/pause\` and \`/abort\`, which make things safer.
- A command from before what it would answer does nothing: a \`/resume\` that is older than the pause does not end it.
- Where several rollouts are steered from one release PR, say which by \`--rollout NAME\`. Without it \`/pause\`, \`/abort\`,
  \`/status\`, \`/plan\` and \`/help\` are for all of them, and others are refused.
- Clusters are named as in the status comment, with spaces or commas between them; \`controlPlane/cluster\` where two control planes have one
  of that name.

👀 means read, 🚀 done, 😕 refused; a refusal says why in a comment. What was done stands in the journal with its author:
\`stagecoach history NAME RUN\`.
`;

function row({ name, usage, who, where, summary }: CommandSpec): string {
  return `| [\`/${name}\`](#${name}) | \`${usage.replaceAll("|", "\\|")}\` | ${who} | ${where} | ${summary} |`;
}

function section({ name, usage, who, where, summary, examples }: CommandSpec): string {
  const usages = usage.split(" | ").map((one) => `\`${one}\``);
  return `### ${name}\n\n${usages.join(" or ")}: ${summary}. Needs *${who}*, on ${where}.\n\n\`\`\`text\n${examples.join("\n")}\n\`\`\`\n`;
}

/** The reference page of the commands people comment. */
export function commandsPage(): string {
  const built = COMMANDS.filter((command) => command.built);
  const later = COMMANDS.filter((command) => !command.built);
  const table = ["| command | written as | needs | where | does |", "| --- | --- | --- | --- | --- |", ...built.map(row)].join("\n");
  const names = later.map(({ name }) => `\`/${name}\``).join(", ");
  const refused = `## Not available yet\n\n${names}: known by name, and answered so. Nothing else happens.\n`;
  return `${INTRO}${table}\n\n${READING}\n## Each command\n\n${built.map(section).join("\n")}\n${refused}`;
}
