/** Subcommands that steer a run comment as the person who runs them: they can do nothing that a comment by hand could not. Called by `main.ts`. */
import { Command, Option } from "commander";
import { JOURNAL_BRANCH } from "../../../adapters/git/journal/journal.ts";
import { defined } from "../../../core/base/defined.ts";
import { addStop } from "../../../core/report/reasons/phrases.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { shortName } from "../../../core/report/words.ts";
import { clustersNamed } from "../../../core/run/commands/clusters.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { COMMAND_NAMES, type CommandName, type CommandSpec, commandSpec } from "../../../core/spec/commands.ts";
import { parseComment } from "../../server/comments/parse.ts";
import { duration, like, outputOption, parseArgs } from "../args.ts";
import { CommandError, type CommandModule } from "../command.ts";
import { onlyRollout } from "../journal/known-rollouts.ts";
import { type JournalSource, withSource } from "../journal/source.ts";
import { TIME_OVER } from "../journal/status.ts";
import { columnsOf, formatData, plain, visible, wantsColour } from "../print.ts";
import { withProgress } from "../progress.ts";
import { awaitAnswer, type Outcome, type Posted } from "./answer.ts";
import { asking, type GitHubPlace, openPlace } from "./github-place.ts";

interface Options extends Record<string, unknown> {
  repo: string;
  repository?: string;
  branch: string;
  fetch: boolean;
  wait: boolean;
  /** In milliseconds. */
  timeout: number;
  output: "text" | "json" | "yaml";
}

/**
 * A subcommand that comments a command on the run's pull request, as the person who runs it: so the very rules, permissions and
 * record apply that hold for a comment by hand.
 */
export function postCommand(name: CommandName): CommandModule {
  const spec = commandSpec(name);
  return posting(
    () => program(spec),
    (rollout, [, ...words], options) => commandText(spec, rollout, words, options),
  );
}

/** `stagecoach comment NAME COMMAND …`: any of them, as it would be written on the pull request. */
export const comment = posting(
  () =>
    withOptions(new Command("stagecoach comment"))
      .usage("[options] NAME COMMAND [WORDS…]")
      .description("comments a command on the pull request of the rollout's run, as you, and shows the bot's answer")
      .argument("<name>", "the rollout")
      .argument("<command>", `one of ${COMMAND_NAMES.join(", ")}`)
      .argument("[words...]", "what the command takes, as in a comment")
      // Options of the command go to it.
      .allowUnknownOption(),
  (rollout, [, word = "", ...words]) => {
    const name = word.replace(/^\//, "");
    const known = COMMAND_NAMES.find((one) => one === name);
    if (known !== undefined) return commandText(commandSpec(known), rollout, words, {});
    throw new CommandError(2, visible(`there is no command "${name}"${like(name, COMMAND_NAMES)}; there are ${COMMAND_NAMES.join(", ")}`));
  },
);

function posting(
  program: () => Command,
  textOf: (rollout: string, args: readonly string[], options: Readonly<Record<string, unknown>>) => string,
): CommandModule {
  return {
    async run(argv) {
      const command = parseArgs(program(), argv);
      if (command === undefined) return 0;
      const options = command.opts<Options>();
      const [named] = command.args;
      // What cannot be posted is told before anything is asked.
      if (named !== undefined) textOf(named, command.args, options);
      const place = await openPlace(options);
      const cloned = options.repository === undefined || command.getOptionValueSource("repo") !== "default";
      const { repo, branch, fetch, repository } = options;
      return await withSource(cloned ? { repo, branch, fetch } : { repo, branch, repository }, async (source) => {
        const rollout = named ?? (await onlyRollout(source));
        const posted = await post(place, source, rollout, textOf(rollout, command.args, options));
        const outcome: Outcome = options.wait
          ? await withProgress("waiting for the bot's answer", () => awaitAnswer(place, source, posted, options.timeout))
          : { outcome: "posted", message: "" };
        process.stdout.write(await shown(posted, outcome, options.output));
        return { done: 0, posted: 0, refused: 1, waiting: TIME_OVER }[outcome.outcome];
      });
    },
  };
}

function program(spec: CommandSpec): Command {
  const isNamed = spec.words === "clusters" || spec.name === "halt" || spec.name === "hotfix";
  const command = withOptions(new Command(`stagecoach ${spec.name}`))
    .usage(`${isNamed ? "NAME" : "[NAME]"} ${usageOf(spec)}[options]`)
    .description(`comments \`/${spec.name}\` on the pull request of the rollout's run, as you: ${spec.summary}`)
    .argument(isNamed ? "<name>" : "[name]", isNamed ? "the rollout" : "the rollout; default: the only one there is");
  const [words, what] = spec.words === "clusters" ? ["clusters", "the clusters"] : ["reason", "why"];
  if (spec.words !== "nothing") command.argument(`[${words}...]`, spec.name === "hotfix" ? `${what}, then why` : what);
  for (const { name, value, summary } of spec.flags)
    command.option(`--${name}${value === undefined ? "" : ` <${value.toLowerCase()}>`}`, summary);
  return command;
}

function withOptions(command: Command): Command {
  const timeout = new Option("--timeout <duration>", "how long the answer is waited for, such as 90s or 2m").argParser(duration);
  return command
    .option("--repo <dir>", "clone of the config repo", ".")
    .option("-R, --repository <owner/name>", "the repo on GitHub, no clone is needed then; default: the clone's remote, or GH_REPO")
    .option("--branch <name>", "the journal's branch", JOURNAL_BRANCH)
    .option("--no-fetch", "take the run from the journal as the clone has it")
    .option("--no-wait", "do not wait for the answer")
    .addOption(timeout.default(120_000, "2m"))
    .addOption(outputOption("text", "json", "yaml"))
    .addHelpText("after", HELP);
}

const HELP = `
Needs a token of yours: what gh has, GH_TOKEN or GITHUB_TOKEN, and GH_HOST with GH_ENTERPRISE_TOKEN for GitHub Enterprise Server.
Exit 0 where it was done, 1 where it was refused, 4 where no answer came in time.`;

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
  const flags = (those: CommandSpec["flags"]) =>
    those.flatMap(({ name }) => {
      const given = options[name];
      return given === true ? [`--${name}`] : typeof given === "string" ? [`--${name}`, given] : [];
    });
  // Behind one of these all is its value.
  const [last, others] = [spec.flags.filter(({ rest }) => rest === true), spec.flags.filter(({ rest }) => rest !== true)];
  const text = [`/${spec.name}`, "--rollout", rollout, ...flags(others), ...words, ...flags(last)].join(" ");
  if (/[\r\n]/.test(text)) throw new CommandError(2, "a command is one line");
  const read = parseComment(text);
  const [one, second] = read.kind === "commands" ? read.commands : [];
  if (one === undefined || second !== undefined || one.name !== spec.name || one.flags["rollout"] !== rollout)
    throw new CommandError(2, plain(read.kind === "mistake" ? sentenceOf(read.because) : `this is no command: ${text}`));
  if (spec.words === "clusters" && one.args.length === 0)
    throw new CommandError(2, visible(`name the clusters: stagecoach ${spec.name} ${rollout} ${usageOf(spec).trim()}`));
  return text;
}

async function post(place: GitHubPlace, source: JournalSource, rollout: string, text: string): Promise<Posted> {
  const run = await source.runOf(rollout);
  const { app: bot } = await source.index();
  checkClusters(run, text);
  const { pull } = run.trigger;
  if (pull === undefined)
    throw new CommandError(1, `${rollout} #${run.number} was started by a push, so it has no pull request to be steered by`);
  const { octokit, owner, repo } = place;
  const { data } = await asking(`comment on #${pull}`, () =>
    octokit.rest.issues.createComment({ owner, repo, issue_number: pull, body: text }),
  );
  return { rollout, run: run.number, pull, comment: data.id, url: data.html_url, text, bot };
}

/** A mistyped cluster is told at once; of one that is like no other the bot says what it is. */
function checkClusters(run: Run, text: string): void {
  const read = parseComment(text);
  const [command] = read.kind === "commands" ? read.commands : [];
  if (command === undefined || commandSpec(command.name).words !== "clusters" || command.args[0] === "failed") return;
  const known = run.plan.stages.flatMap(({ clusters, requeued }) => [...clusters, ...requeued]).map(shortName);
  for (const name of command.args) {
    const isKnown = !("error" in clustersNamed(run, [name])) || known.includes(name);
    const meant = isKnown ? "" : like(name, known);
    if (meant !== "") throw new CommandError(2, visible(`${run.rollout} #${run.number} has no cluster "${name}"${meant}`));
  }
}

async function shown(posted: Posted, { outcome, message, answer }: Outcome, output: Options["output"]): Promise<string> {
  const { rollout, run, pull, url, text } = posted;
  if (output !== "text") return formatData({ rollout, run, pull, comment: url, text, outcome, message, ...defined({ answer }) }, output);
  const head = `${plain(text)}  on ${rollout} #${run}: ${plain(url)}\n`;
  if (outcome === "posted") return head;
  if (answer !== undefined) {
    const { markdownText } = await import("../markdown-text.ts");
    return `${head}\n${markdownText(answer, { width: columnsOf(), colour: wantsColour() })}`;
  }
  const said = outcome.charAt(0).toUpperCase() + outcome.slice(1);
  return `${head}${addStop(message === "" ? said : `${said}: ${plain(message)}`)}\n`;
}
