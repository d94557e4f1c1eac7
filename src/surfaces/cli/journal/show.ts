import { readFileSync } from "node:fs";
import { ACCEPT_TRAILER, checkBranch, faultOf } from "../../../adapters/git/journal/check.ts";
import type { Suspicion } from "../../../adapters/git/journal/port.ts";
import type { Seal } from "../../../adapters/git/journal/seal.ts";
import { sshJudge } from "../../../adapters/git/local-writer.ts";
import type { CommitInfo } from "../../../adapters/git/port.ts";
import { parseTrailers } from "../../../adapters/git/signing/commit-object.ts";
import { count } from "../../../core/base/count.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { outputOption, parseArgs } from "../args.ts";
import { CommandError } from "../command.ts";
import { columns, formatData, isData, plain, utc } from "../print.ts";
import { type SealOptions, sealOf, withSealOptions } from "./seal-options.ts";
import { type JournalSource, journalCommand, type SourceOptions, withSource } from "./source.ts";

interface Shown {
  head: string;
  app: string;
  rollouts: number;
  commits: number;
  accepted: { commit: string; by: string } | null;
  /** Whether the seals were checked, for which the server's key is needed. */
  sealed: "checked" | "not checked";
  suspicion: { commit: string; why: string } | null;
  newest: { commit: string; at: string; author: string; subject: string }[];
}

/** `stagecoach journal show`: exit 1 where a commit is not the bot's. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = withSealOptions(journalCommand("journal show", "Whose the journal is, and whether what stands on it is the bot's"))
    .option("--public-key <file>", "check the commits' signatures, too: the .pub file of the key that the bot signs with")
    .addOption(outputOption("text", "json", "yaml"));
  if (parseArgs(command, argv) === undefined) return 0;
  const options = command.opts<SourceOptions & SealOptions & { publicKey?: string; output: "text" | "json" | "yaml" }>();
  const seal = sealOf(options);
  return await withSource(
    // What stands here is judged, and not what the remote has, unless that is asked for.
    { ...options, fetch: options.fetch ?? false },
    async (source) => {
      const shown = await look(source, { seal, publicKey: options.publicKey });
      process.stdout.write(isData(options.output) ? formatData(shown, options.output) : print(shown));
      return shown.suspicion === null ? 0 : 1;
    },
    { sealed: true },
  );
}

interface Keys {
  seal: Seal | undefined;
  publicKey: string | undefined;
}

async function look(source: JournalSource, { seal, publicKey }: Keys): Promise<Shown> {
  const { app, rollouts } = await source.index();
  const head = await source.head();
  if (head === undefined) throw new CommandError(1, "the journal's branch is gone");
  const log = (await source.reader.firstParentLog(undefined, head)).toReversed();
  const accepted = log.find((commit) => parseTrailers(commit.body)[ACCEPT_TRAILER] !== undefined);
  const since = accepted === undefined ? log : log.slice(0, log.indexOf(accepted));
  // Anybody may write an acceptance: with the key its own seal speaks for it, and nothing else does.
  const known = { trusted: seal === undefined ? accepted?.sha : undefined, seen: undefined };
  const unsealed = seal === undefined ? undefined : (await checkBranch({ mirror: source.reader, app, seal }, head, known)).suspicion;
  const suspicion = unsealed ?? (await byWords(source, since, app, publicKey));
  return {
    head,
    app,
    rollouts: rollouts.size,
    commits: log.length,
    accepted: accepted === undefined ? null : { commit: accepted.sha, by: parseTrailers(accepted.body)["Stagecoach-Actor"] ?? "unknown" },
    sealed: seal === undefined ? "not checked" : "checked",
    suspicion: suspicion === undefined ? null : { commit: suspicion.commit, why: sentenceOf(suspicion.why) },
    newest: log.slice(0, 10).map(({ sha: commit, at, author, subject }) => ({ commit, at: new Date(at).toISOString(), author, subject })),
  };
}

/** The newest commit that is not the bot's by what it says, or by its signature where there is a key to check that with. */
async function byWords({ reader }: JournalSource, commits: readonly CommitInfo[], app: string, publicKey: string | undefined) {
  const keys = publicKey === undefined ? undefined : readFileSync(publicKey, "utf8").split("\n");
  const usable = keys?.filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const unsigned = usable === undefined ? undefined : await sshJudge(reader, usable).foreign(commits);
  for (const commit of commits) {
    const because = faultOf(commit, app) ?? unsigned?.get(commit.sha);
    const { sha, subject } = commit;
    if (because !== undefined) return { commit: sha, why: { code: "JOURNAL_FOREIGN", commit: sha, subject, because } } satisfies Suspicion;
  }
  return undefined;
}

function print(shown: Shown): string {
  const { head, app, commits, rollouts, accepted, sealed, suspicion, newest } = shown;
  const facts = [
    ["Head:", head],
    ["Owner:", plain(app)],
    ["Commits:", `${commits}, of ${count(rollouts, "rollout")}`],
    ...(accepted === null ? [] : [["Accepted:", `${accepted.commit.slice(0, 12)} by ${plain(accepted.by)}`]]),
    ["Seals:", sealed === "checked" ? "checked" : "not checked: the server's key does that, by --seal-key or --app-key"],
    [
      "State:",
      suspicion === null
        ? sealed === "checked"
          ? "as the bot left it"
          : "says of itself that it is as the bot left it"
        : `⚠ ${plain(suspicion.why)}`,
    ],
  ];
  const rows = newest.map(({ commit, at, author, subject }) => [commit.slice(0, 12), utc(at), plain(author), plain(subject)]);
  const ask = suspicion === null ? "" : `\nLook at what it changed, then accept it: stagecoach journal accept ${head.slice(0, 12)}\n`;
  return `${columns(facts)}\n${columns([["COMMIT", "TIME", "AUTHOR", "WHAT HAPPENED"], ...rows])}${ask}`;
}
