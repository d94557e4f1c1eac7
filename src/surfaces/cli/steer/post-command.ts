/** Subcommands that steer a run comment as the person who runs them: they can do nothing that a comment by hand could not. Called by `main.ts`. */
import { Command } from "commander";
import { JOURNAL_BRANCH } from "../../../adapters/git/journal/journal.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { type CommandName, type CommandSpec, commandSpec } from "../../../core/spec/commands.ts";
import { parseComment } from "../../server/comments/parse.ts";
import { outputOption, parseArgs } from "../args.ts";
import { CommandError, type CommandModule } from "../command.ts";
import { type JournalSource, withSource } from "../journal/source.ts";
import { json, plain } from "../print.ts";
import { asking, type GitHubPlace, openPlace } from "./github-place.ts";

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
interface Outcome {
  outcome: "done" | "refused" | "posted" | "waiting";
  message: string;
}

/** A command that stands on GitHub. */
interface Posted {
  rollout: string;
  run: number;
  pull: number;
  /** Id of the comment. */
  comment: number;
  url: string;
  text: string;
  /** The App whose journal it is: its reactions count, and nobody else's. */
  bot: string;
}

/**
 * A subcommand that comments a command on the run's pull request, as the person who runs it: so the very rules, permissions and
 * record apply that hold for a comment by hand.
 */
export function postCommand(name: CommandName): CommandModule {
  const spec = commandSpec(name);
  return {
    async run(argv) {
      const command = parseArgs(program(spec), argv);
      if (command === undefined) return 0;
      const options = command.opts<Options>();
      const [rollout = "", ...words] = command.args;
      const text = commandText(spec, rollout, words, options);
      const seconds = Number(options.timeout);
      if (!Number.isFinite(seconds) || seconds <= 0) throw new CommandError(2, `--timeout ${options.timeout} is no number of seconds`);
      const place = await openPlace(options);
      const cloned = options.repository === undefined || command.getOptionValueSource("repo") !== "default";
      const { repo, branch, fetch, repository } = options;
      return await withSource(cloned ? { repo, branch, fetch } : { repo, branch, repository }, async (source) => {
        const posted = await post(place, source, rollout, text);
        const outcome: Outcome = options.wait
          ? await awaitAnswer(place, source, posted, seconds * 1000)
          : { outcome: "posted", message: "" };
        process.stdout.write(shown(posted, outcome, options.output));
        return { done: 0, posted: 0, refused: 1, waiting: 3 }[outcome.outcome];
      });
    },
  };
}

function program(spec: CommandSpec): Command {
  const command = new Command(`stagecoach ${spec.name}`)
    .usage(`NAME ${usageOf(spec)}[options]`)
    .description(`comments \`/${spec.name}\` on the pull request of the rollout's run, as you: ${spec.summary}`)
    .argument("<name>", "the rollout")
    .option("--repo <dir>", "clone of the config repo", ".")
    .option("-R, --repository <owner/name>", "the repo on GitHub, no clone is needed then; default: the clone's remote, or GH_REPO")
    .option("--branch <name>", "the journal's branch", JOURNAL_BRANCH)
    .option("--no-fetch", "take the run from the journal as the clone has it")
    .option("--no-wait", "do not wait for the answer")
    .option("--timeout <seconds>", "how long the answer is waited for", "120")
    .addOption(outputOption("text", "json"))
    .addHelpText("after", HELP);
  if (spec.words !== "nothing") command.argument("[words...]", spec.words === "clusters" ? "clusters" : "why");
  for (const { name, value, summary } of spec.flags)
    command.option(`--${name}${value === undefined ? "" : ` <${value.toLowerCase()}>`}`, summary);
  return command;
}

const HELP = `
Needs a token of yours: what gh has, GH_TOKEN or GITHUB_TOKEN, and GH_HOST with GH_ENTERPRISE_TOKEN for GitHub Enterprise Server.
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
  if (one === undefined || second !== undefined || one.name !== spec.name || one.flags["rollout"] !== rollout)
    throw new CommandError(2, plain(read.kind === "mistake" ? sentenceOf(read.because) : `this is no command: ${text}`));
  return text;
}

async function post(place: GitHubPlace, source: JournalSource, rollout: string, text: string): Promise<Posted> {
  const { app: bot } = await source.index();
  const run = await source.runOf(rollout);
  const { pull } = run.trigger;
  if (pull === undefined)
    throw new CommandError(1, `${rollout} #${run.number} was started by a push, so it has no pull request to be steered by`);
  const { octokit, owner, repo } = place;
  const { data } = await asking(`comment on #${pull}`, () =>
    octokit.rest.issues.createComment({ owner, repo, issue_number: pull, body: text }),
  );
  return { rollout, run: run.number, pull, comment: data.id, url: data.html_url, text, bot };
}

function shown(posted: Posted, { outcome, message }: Outcome, output: Options["output"]): string {
  const { rollout, run, pull, url, text } = posted;
  if (output === "json") return json({ rollout, run, pull, comment: url, text, outcome, message });
  const head = `${plain(text)}  on ${rollout} #${run}: ${plain(url)}\n`;
  if (outcome === "posted") return head;
  return `${head}${outcome}${message === "" ? "" : `: ${plain(message)}`}\n`;
}

/** How often it is asked, by how long was waited already: an answer mostly comes within seconds. */
const POLLS: readonly { afterMs: number; everyMs: number }[] = [
  { afterMs: 20_000, everyMs: 5_000 },
  { afterMs: 4_000, everyMs: 1_000 },
  { afterMs: 0, everyMs: 300 },
];

/** Waits for 🚀 or 😕 of the bot on the comment, and says what the journal has of it. */
async function awaitAnswer(place: GitHubPlace, source: JournalSource, posted: Posted, withinMs: number): Promise<Outcome> {
  const began = performance.now();
  let seen = false;
  for (;;) {
    const reactions = await botReactions(place, posted);
    // Several commands of the comment may differ; ours is the only one.
    if (reactions.has("confused")) return { outcome: "refused", message: await messageOf(place, source, posted) };
    if (reactions.has("rocket")) return { outcome: "done", message: await messageOf(place, source, posted) };
    seen ||= reactions.has("eyes");
    const waited = performance.now() - began;
    if (waited >= withinMs) {
      const message = seen
        ? "it was read, and cannot be done yet: the answer will be on the comment"
        : "nothing was heard: Stagecoach may not be running; the comment stays, and counts for 15 minutes";
      return { outcome: "waiting", message };
    }
    const every = POLLS.find(({ afterMs }) => waited >= afterMs)?.everyMs ?? 1_000;
    await new Promise((resolve) => setTimeout(resolve, Math.min(every, withinMs - waited + 1)));
  }
}

async function botReactions({ octokit, owner, repo }: GitHubPlace, { comment, bot }: Posted): Promise<Set<string>> {
  const { data } = await asking("read the reactions to the comment", () =>
    octokit.rest.reactions.listForIssueComment({ owner, repo, comment_id: comment, per_page: 100 }),
  );
  return new Set(data.filter((reaction) => reaction.user?.login === bot).map((reaction) => reaction.content));
}

/** The answer in words: of the journal, or where it never got there, of the bot's comment of refusals. */
async function messageOf(place: GitHubPlace, source: JournalSource, posted: Posted): Promise<string> {
  // Where the journal cannot be fetched the reaction has said the main thing.
  await source.fetch().catch(() => undefined);
  const run = await source.run(posted.rollout, posted.run);
  const handled = run?.commands.find((command) => command.id === `${posted.comment}#0`);
  return sentenceOf(handled?.message ?? (await refusalOf(place, posted)) ?? "", run);
}

async function refusalOf({ octokit, owner, repo }: GitHubPlace, { pull, bot, text, comment }: Posted): Promise<string | undefined> {
  const comments = await asking("read the answer", () =>
    octokit.paginate(octokit.rest.issues.listComments, { owner, repo, issue_number: pull, per_page: 100 }),
  );
  // Below the comment; or, of whoever wrote many, in the one that the others share.
  const answers = [`<!-- stagecoach:answer:${comment} -->`, "<!-- stagecoach:answer -->"];
  const found = answers.map((marker) => comments.find((one) => one.user?.login === bot && one.body?.startsWith(marker) === true)?.body);
  const mine = (found[0] ?? found[1] ?? "").split(/^> /m).find((part) => part.startsWith("`") && part.includes(text));
  return mine
    ?.split("\n")
    .find((line) => line.startsWith("@"))
    ?.replace(/^@\S+: /, "")
    .replaceAll(/\\([\\`*_{}[\]<>|#~])/g, "$1");
}
