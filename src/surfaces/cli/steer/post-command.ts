import { Command, Option } from "commander";
import { JOURNAL_BRANCH } from "../../../adapters/git/journal/journal.ts";
import type { CommandName } from "../../../core/spec/command.ts";
import { type CommandSpec, commandSpec } from "../../../core/spec/commands.ts";
import { parseComment } from "../../server/comments/parse.ts";
import { CommandError } from "../command.ts";
import { entryOf, type JournalSource, plain, withSource } from "../journal/source.ts";
import { parseArgs } from "../plan/plan-args.ts";
import { asking, openPlace } from "./github-place.ts";
import { awaitAnswer, type Posted } from "./post-wait.ts";

interface Options extends Record<string, unknown> {
  repo: string;
  repository?: string;
  branch: string;
  fetch: boolean;
  wait: boolean;
  timeout: string;
  output: "text" | "json";
}

/** What became of a command. `posted`: nobody waited for more. */
export interface Outcome {
  outcome: "done" | "refused" | "posted" | "waiting";
  message: string;
}

/**
 * A subcommand that comments a command on the run's pull request, as the person who runs it: so the very rules, permissions and
 * record apply that hold for a comment by hand.
 */
export function postCommand(name: CommandName): (argv: readonly string[]) => Promise<number> {
  const spec = commandSpec(name);
  return async (argv) => {
    const command = parseArgs(program(spec), argv);
    if (command === undefined) return 0;
    const options = command.opts<Options>();
    const [rollout = "", ...words] = command.args;
    const text = commandText(spec, rollout, words, options);
    const seconds = Number(options.timeout);
    if (!Number.isFinite(seconds) || seconds <= 0) throw new CommandError(2, `--timeout ${options.timeout} is no number of seconds`);
    const place = await openPlace(options);
    return await withSource({ repo: options.repo, branch: options.branch, fetch: options.fetch }, async (source) => {
      const posted = await post(place, source, rollout, text);
      const outcome = options.wait ? await awaitAnswer(place, source, posted, seconds * 1000) : NOT_AWAITED;
      process.stdout.write(shown(posted, outcome, options.output));
      return { done: 0, posted: 0, refused: 1, waiting: 3 }[outcome.outcome];
    });
  };
}

const NOT_AWAITED: Outcome = { outcome: "posted", message: "" };

function program(spec: CommandSpec): Command {
  const command = new Command(`stagecoach ${spec.name}`)
    .usage(`NAME ${usageOf(spec)}[options]`)
    .description(`comments \`/${spec.name}\` on the pull request of the rollout's run, as you: ${spec.summary}`)
    .argument("<name>", "the rollout")
    .option("--repo <dir>", "clone of the config repo", ".")
    .option("--repository <owner/name>", "the repo on GitHub; default: the clone's remote, or GH_REPO")
    .option("--branch <name>", "the journal's branch", JOURNAL_BRANCH)
    .option("--no-fetch", "take the run from the journal as the clone has it")
    .option("--no-wait", "do not wait for the answer")
    .option("--timeout <seconds>", "how long the answer is waited for", "120")
    .addOption(new Option("-o, --output <format>").choices(["text", "json"]).default("text"))
    .addHelpText("after", HELP);
  if (spec.words !== "nothing") command.argument("[words...]", spec.words === "clusters" ? "clusters" : "why");
  for (const { name, value, summary } of spec.flags)
    command.option(`--${name}${value === undefined ? "" : ` <${value.toLowerCase()}>`}`, summary);
  return command;
}

const HELP = `
Needs a token of yours: GH_TOKEN or GITHUB_TOKEN, and GH_HOST with GH_ENTERPRISE_TOKEN for GitHub Enterprise Server.
Exit 0 where it was done, 1 where it was refused, 3 where no answer came in time.`;

/** What comes after the name: the words of the command, without its flags, which are listed below. */
function usageOf({ name, words }: CommandSpec): string {
  if (name === "halt") return "[cluster=A,B] REASON ";
  if (name === "hotfix") return "CLUSTER… REASON ";
  if (words === "clusters") return "CLUSTER… ";
  return words === "reason" ? "[REASON] " : "";
}

/** The comment's one line, read back by the bot's own parser: what it would not take is never posted. */
export function commandText(
  spec: CommandSpec,
  rollout: string,
  words: readonly string[],
  options: Readonly<Record<string, unknown>>,
): string {
  const parts = [`/${spec.name}`, "--rollout", rollout];
  for (const { name } of spec.flags) {
    const given = options[name];
    if (given === true) parts.push(`--${name}`);
    else if (typeof given === "string") parts.push(`--${name}`, given);
  }
  const text = [...parts, ...words].join(" ");
  if (/[\r\n]/.test(text)) throw new CommandError(2, "a command is one line");
  const read = parseComment(text);
  const [one, second] = read.kind === "commands" ? read.commands : [];
  if (one === undefined || second !== undefined || one.name !== spec.name || one.flags["rollout"] !== rollout) {
    throw new CommandError(
      2,
      read.kind === "reply" ? plain(read.message.replace(/ Nothing of this comment was done$/, "")) : `this is no command: ${plain(text)}`,
    );
  }
  return text;
}

async function post(place: Awaited<ReturnType<typeof openPlace>>, source: JournalSource, rollout: string, text: string): Promise<Posted> {
  const index = await source.index();
  const { lastRun } = entryOf(index, rollout);
  const run = await source.run(rollout, lastRun);
  if (run === undefined) throw new CommandError(1, `the journal has no run ${rollout} #${lastRun}`);
  const { pull } = run.trigger;
  if (pull === undefined)
    throw new CommandError(1, `${rollout} #${run.number} was started by a push, so it has no pull request to be steered by`);
  const { octokit, owner, repo } = place;
  const { data } = await asking(`comment on #${pull}`, () =>
    octokit.rest.issues.createComment({ owner, repo, issue_number: pull, body: text }),
  );
  return { rollout, run: run.number, pull, comment: data.id, url: data.html_url, text, bot: index.app };
}

function shown(posted: Posted, { outcome, message }: Outcome, output: Options["output"]): string {
  const { rollout, run, pull, url, text } = posted;
  if (output === "json") return `${JSON.stringify({ rollout, run, pull, comment: url, text, outcome, message }, null, 2)}\n`;
  const head = `${plain(text)}  on ${rollout} #${run}: ${plain(url)}\n`;
  if (outcome === "posted") return head;
  return `${head}${outcome}${message === "" ? "" : `: ${plain(message)}`}\n`;
}
