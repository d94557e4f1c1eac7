/** `stagecoach explain`: liveness is judged on files that were given, by the very clauses that the bot goes by. */
import { Command } from "commander";
import { assess } from "../../../core/argocd/liveness/liveness.ts";
import { CLAUSE_NAMES, type LivenessInput } from "../../../core/argocd/liveness/types.ts";
import { defined } from "../../../core/base/defined.ts";
import { epoch, iso, parseDuration } from "../../../core/base/time.ts";
import { livenessReason } from "../../../core/reasons/liveness.ts";
import { CLAUSE_DOCS } from "../../../core/report/clause-docs.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import type { Assessment } from "../../../core/run/state/world.ts";
import { outputOption, parseArgs } from "../args.ts";
import { CommandError } from "../command.ts";
import { formatData, isData, visible } from "../print.ts";
import { type ChangeOptions, type Chosen, changeOf } from "./change.ts";
import { applicationIn, clusterIn, intendedIn } from "./read.ts";

interface Options extends ChangeOptions {
  application: string;
  previous?: string;
  mergedAt: string;
  now?: string;
  cluster?: string;
  intended?: string;
  settle: string;
  grace: string;
  output: "text" | "json" | "yaml";
}

function program(): Command {
  return new Command("stagecoach explain")
    .description("whether a change is live and healthy in an Application, by which clause not, and on what evidence")
    .requiredOption("--application <file>", "what `kubectl get application -o yaml` printed; - reads standard input")
    .option("--previous <file>", "an earlier read of it, which must hold too")
    .option("--revision <revision>", "the change is this targetRevision; with --intended a value that stands anywhere in its sources")
    .option("--commit <sha>", "the change is this commit of the config repo, which needs --repo")
    .option(
      "--repo <dir>",
      "a clone of the config repo: does what Argo CD has seen contain the commit, with what it changed still so? is the revision a tag in it?",
    )
    .option("--repo-url <url>", "how the Application spells that repo, default: the clone's origin; with --revision the repo that has it")
    .requiredOption("--merged-at <time>", "when the change was merged, as GitHub says it")
    .option("--now <time>", "when the Application was read; default: now")
    .option("--cluster <file>", "its cluster: an item of Argo CD's /api/v1/clusters")
    .option("--intended <file>", "the Application as rendered at the commit: its spec must be in place; alone it is the change")
    .option("--settle <duration>", "how long it must have been quiet", "10s")
    .option("--grace <duration>", "how long something bad must have lasted", "60s")
    .addOption(outputOption("text", "json", "yaml"))
    .addHelpText("after", HELP);
}

const HELP = `
It knows what it is given: without --cluster no connection, and never a sync window. --commit is asked for in sources of the
clone's repo; with --intended one that is pinned to a tag or commit from before it must be at that one, and others may be all.
Exit 0 whatever the verdict is, 2 for input that is empty or does not fit together.`;

/** `stagecoach explain`: exit 0 whatever the verdict is, since it is the answer. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = parseArgs(program(), argv);
  if (command === undefined) return 0;
  const options = command.opts<Options>();
  const { input, notes, hadNone } = await inputOf(options);
  const assessed = assess(input);
  const assessment = withNotes(hadNone && assessed.verdict === "live" ? unconfirmed(assessed) : assessed, notes);
  process.stdout.write(isData(options.output) ? formatData(answerOf(assessment), options.output) : visible(shown(assessment)));
  return 0;
}

/** The earlier read says that there was no such Application: then nothing earlier has met a clause. */
function unconfirmed(assessment: Assessment): Assessment {
  const sentence = livenessReason("EARLIER_READ_DIFFERS", { by: "absence" });
  const told = { verdict: "pending", clause: "confirmed", sentence } as const;
  return { ...assessment, ...told, evidence: { ...assessment.evidence, ...told } };
}

function withNotes(assessment: Assessment, notes: Readonly<Record<string, string>>): Assessment {
  const { evidence } = assessment;
  return { ...assessment, evidence: { ...evidence, fields: { ...evidence.fields, ...notes } } };
}

/** What others may rely on: these four keys. What says when to look again stands in the evidence. */
function answerOf({ verdict, clause, sentence, evidence, lookAgainAt, wantsRefresh }: Assessment) {
  const said = sentenceOf(sentence);
  const more = { lookAgainAt, wantsRefresh: wantsRefresh || undefined };
  return { verdict, clause, sentence: said, evidence: { ...evidence, sentence: said, ...more } };
}

interface Read {
  input: LivenessInput;
  /** Further evidence. */
  notes: Readonly<Record<string, string>>;
  /** An earlier read was given, in which the Application was not there. */
  hadNone: boolean;
}

async function inputOf(options: Options): Promise<Read> {
  const now = options.now === undefined ? Date.now() : timeOf("--now", options.now);
  const mergedAt = new Date(timeOf("--merged-at", options.mergedAt)).toISOString();
  const application = await applicationIn(options.application, now);
  const previous = options.previous === undefined ? undefined : await applicationIn(options.previous, now);
  const cluster = options.cluster === undefined ? undefined : await clusterIn(options.cluster, application);
  const rendered = options.intended === undefined ? undefined : await intendedIn(options.intended, application);
  const { notes = {}, ...chosen }: Chosen = await changeOf(options, { mergedAt, application, previous, rendered });
  const input: LivenessInput = {
    ...chosen,
    application,
    now,
    settleMs: durationOf("--settle", options.settle),
    graceMs: durationOf("--grace", options.grace),
    ...defined({ previous, cluster, intended: rendered?.intended }),
  };
  return { input, notes, hadNone: options.previous !== undefined && previous === undefined };
}

/** RFC 3339, with its zone: a time of nowhere in particular is no answer to which came first. */
const TIME = /^(\d{4}-\d\d-\d\d)[Tt]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/;

function timeOf(option: string, text: string): number {
  const day = TIME.exec(text)?.[1];
  // 30 February is taken for 2 March by Date.
  const midnight = epoch(`${day}T00:00:00Z`);
  const exists = day !== undefined && !Number.isNaN(midnight) && iso(midnight).startsWith(day);
  const ms = exists ? epoch(text.toUpperCase()) : Number.NaN;
  if (Number.isNaN(ms)) throw new CommandError(2, `${option} ${text}: not a time; write it as 2026-11-21T10:00:00Z`);
  return ms;
}

function durationOf(option: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new CommandError(2, `${option} ${text}: not a duration; write it as 10s or 1m30s`);
  return ms;
}

function shown({ verdict, clause, sentence, lookAgainAt, wantsRefresh, evidence }: Assessment): string {
  const rows = Object.entries({ resourceVersion: evidence.resourceVersion ?? null, readAt: evidence.readAt, ...evidence.fields });
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    `${verdict}${verdict === "live" ? "" : ` (clause ${clause})`}: ${sentenceOf(sentence)}`,
    ...(lookAgainAt === undefined ? [] : [`Look again at ${lookAgainAt}.`]),
    ...(wantsRefresh ? ["A refresh by Argo CD would help."] : []),
    ...why(clause),
    "",
    ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value ?? "-"}`),
    "",
  ].join("\n");
}

/** What the clause is good for, for whoever wonders why it is waited for. */
function why(clause: string): string[] {
  const name = CLAUSE_NAMES.find((one) => one === clause);
  if (name === undefined) return [];
  const { holds, protects, bitten } = CLAUSE_DOCS[name];
  const reports = bitten.length === 0 ? "" : ` (${bitten.join(", ")})`;
  return [`Clause ${name}: ${holds}. Protects from ${protects}${reports}.`];
}
