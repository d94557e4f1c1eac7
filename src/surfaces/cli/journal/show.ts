import { readFileSync } from "node:fs";
import { ACCEPT_TRAILER, checkBranch } from "../../../adapters/git/journal/check.ts";
import { sshJudge } from "../../../adapters/git/local-writer.ts";
import { parseTrailers } from "../../../adapters/git/signing/commit-object.ts";
import { count } from "../../../core/base/count.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { outputOption, parseArgs } from "../args.ts";
import { CommandError } from "../command.ts";
import { columns, json, plain, utc } from "../print.ts";
import { type JournalSource, journalCommand, type SourceOptions, withSource } from "./source.ts";

interface Shown {
  head: string;
  app: string;
  rollouts: number;
  commits: number;
  accepted: { commit: string; by: string } | null;
  /** Of the commits since the last acceptance. */
  suspicion: { commit: string; why: string } | null;
  newest: { commit: string; at: string; author: string; subject: string }[];
}

/** `stagecoach journal show`: exit 1 where a commit is not the bot's. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = journalCommand("journal show", "Whose the journal is, and whether every commit of it is the bot's")
    .option("--public-key <file>", "check the commits' signatures, too: the .pub file of the key that the bot signs with")
    .addOption(outputOption("text", "json"));
  if (parseArgs(command, argv) === undefined) return 0;
  const options = command.opts<SourceOptions & { publicKey?: string; output: "text" | "json" }>();
  return await withSource(options, async (source) => {
    const shown = await look(source, options.publicKey);
    process.stdout.write(options.output === "json" ? json(shown) : print(shown));
    return shown.suspicion === null ? 0 : 1;
  });
}

async function look(source: JournalSource, publicKey: string | undefined): Promise<Shown> {
  const { app, rollouts } = await source.index();
  const head = await source.head();
  if (head === undefined) throw new CommandError(1, "the journal's branch is gone");
  const judge =
    publicKey === undefined
      ? undefined
      : sshJudge(
          source.reader,
          readFileSync(publicKey, "utf8")
            .split("\n")
            .filter((line) => line.trim() !== "" && !line.startsWith("#")),
        );
  const log = (await source.reader.firstParentLog(undefined, head)).toReversed();
  const suspicion = await checkBranch({ mirror: source.reader, app, judge }, head, { trusted: undefined, seen: undefined });
  const accepted = log.find((commit) => parseTrailers(commit.body)[ACCEPT_TRAILER] !== undefined);
  return {
    head,
    app,
    rollouts: rollouts.size,
    commits: log.length,
    accepted: accepted === undefined ? null : { commit: accepted.sha, by: parseTrailers(accepted.body)["Stagecoach-Actor"] ?? "unknown" },
    suspicion: suspicion === undefined ? null : { commit: suspicion.commit, why: sentenceOf(suspicion.why) },
    newest: log.slice(0, 10).map(({ sha: commit, at, author, subject }) => ({ commit, at: new Date(at).toISOString(), author, subject })),
  };
}

function print(shown: Shown): string {
  const { head, app, commits, rollouts, accepted, suspicion, newest } = shown;
  const facts = [
    ["Head:", head],
    ["Owner:", plain(app)],
    ["Commits:", `${commits}, of ${count(rollouts, "rollout")}`],
    ...(accepted === null ? [] : [["Accepted:", `${accepted.commit.slice(0, 12)} by ${plain(accepted.by)}`]]),
    ["State:", suspicion === null ? "as the bot left it" : `⚠ ${plain(suspicion.why)}`],
  ];
  const rows = newest.map(({ commit, at, author, subject }) => [commit.slice(0, 12), utc(at), plain(author), plain(subject)]);
  const ask = suspicion === null ? "" : `\nLook at what it changed, then accept it: stagecoach journal accept ${head.slice(0, 12)}\n`;
  return `${columns(facts)}\n${columns([["COMMIT", "TIME", "AUTHOR", "WHAT HAPPENED"], ...rows])}${ask}`;
}
