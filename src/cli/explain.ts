import { readFile } from "node:fs/promises";
import { text as textOf } from "node:stream/consumers";
import { Command, Option } from "commander";
import { parseAllDocuments } from "yaml";
import { CLAUSE_DOCS } from "../argocd/clause-docs.ts";
import { decodeApplication, decodeIntended } from "../argocd/decode.ts";
import { decodeClusterItem, decodeClusterSecret } from "../argocd/decode-cluster.ts";
import { child, fields, list, own, word } from "../argocd/lenient.ts";
import { assess, type Change, CLAUSE_NAMES, type Intended, type LivenessInput } from "../argocd/liveness.ts";
import type { ApplicationView, ClusterView, SourceView } from "../argocd/port.ts";
import { normalRepo } from "../argocd/same.ts";
import { epoch, iso, parseDuration } from "../rollout/time.ts";
import type { Assessment } from "../rollout/world.ts";
import { CommandError } from "./command.ts";
import { ancestryIn, commitIn, repoOf, seenRevisions, tagIn } from "./explain-git.ts";
import { parseArgs } from "./plan-args.ts";
import { visible } from "./visible.ts";

interface Options {
  application: string;
  previous?: string;
  revision?: string;
  commit?: string;
  repo?: string;
  repoUrl?: string;
  mergedAt: string;
  now?: string;
  cluster?: string;
  intended?: string;
  settle: string;
  grace: string;
  output: "json" | "text";
}

function program(): Command {
  return new Command("stagecoach explain")
    .description("whether a change is live and healthy in an Application, by which clause not, and on what evidence")
    .requiredOption("--application <file>", "what `kubectl get application -o yaml` printed; - reads standard input")
    .option("--previous <file>", "an earlier read of it, which must hold too")
    .option("--revision <revision>", "the change is this targetRevision")
    .option("--commit <sha>", "the change is this commit of the config repo, which needs --repo")
    .option("--repo <dir>", "a clone of the config repo: does what Argo CD has seen contain the commit, and is the revision a tag in it?")
    .option("--repo-url <url>", "how the Application spells the config repo; default: the clone's origin")
    .requiredOption("--merged-at <time>", "when the change was merged, as GitHub says it")
    .option("--now <time>", "when the Application was read; default: now")
    .option("--cluster <file>", "its cluster: an item of Argo CD's /api/v1/clusters")
    .option("--intended <file>", "the Application as rendered at the commit: the change shows in the spec, and no revision is asked for")
    .option("--settle <duration>", "how long it must have been quiet", "10s")
    .option("--grace <duration>", "how long something bad must have lasted", "60s")
    .addOption(new Option("-o, --output <format>").choices(["json", "text"]).default("text"));
}

/** `stagecoach explain`: exit 0 whatever the verdict is, since it is the answer. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = parseArgs(program(), argv);
  if (command === undefined) return 0;
  const options = command.opts<Options>();
  const assessment = assess(await inputOf(options));
  process.stdout.write(options.output === "json" ? `${JSON.stringify(answerOf(assessment), null, 2)}\n` : visible(shown(assessment)));
  return 0;
}

/** What others may rely on: these four keys. What says when to look again stands in the evidence. */
function answerOf({ verdict, clause, sentence, evidence, lookAgainAt, wantsRefresh }: Assessment) {
  const again = { ...(lookAgainAt === undefined ? {} : { lookAgainAt }), ...(wantsRefresh ? { wantsRefresh } : {}) };
  return { verdict, clause, sentence, evidence: { ...evidence, ...again } };
}

async function inputOf(options: Options): Promise<LivenessInput> {
  const now = options.now === undefined ? Date.now() : timeOf("--now", options.now);
  const mergedAt = new Date(timeOf("--merged-at", options.mergedAt)).toISOString();
  const application = await applicationIn(options.application, now);
  const previous = options.previous === undefined ? undefined : await applicationIn(options.previous, now);
  const cluster = options.cluster === undefined ? undefined : await clusterIn(options.cluster, application);
  const intended = options.intended === undefined ? undefined : await intendedIn(options.intended, application);
  const views = [application, previous].filter((view) => view !== undefined);
  const { change, ancestry } = await changeOf(options, mergedAt, views, intended);
  return {
    application,
    change,
    now,
    settleMs: durationOf("--settle", options.settle),
    graceMs: durationOf("--grace", options.grace),
    ...(previous === undefined ? {} : { previous }),
    ...(cluster === undefined ? {} : { cluster }),
    ...(intended === undefined ? {} : { intended }),
    ...(ancestry === undefined ? {} : { ancestry }),
  };
}

type Chosen = { change: Change; ancestry?: NonNullable<LivenessInput["ancestry"]> };

async function changeOf(options: Options, mergedAt: string, views: ApplicationView[], intended: Intended | undefined): Promise<Chosen> {
  const { revision, commit, repo } = options;
  if (revision !== undefined && commit !== undefined) throw new CommandError(2, "give --revision or --commit, not both");
  if (revision !== undefined) {
    // A revision that no rendered source names got into the spec in another way: the spec itself is the sign.
    const elsewhere = intended?.sources.every((source) => source.targetRevision !== revision) === true;
    if (elsewhere) return { change: { kind: "generator", mergedAt } };
    return { change: { kind: "revision", revision, mergedAt }, ...(await asTag(options, revision, mergedAt, views)) };
  }
  if (intended !== undefined) return { change: { kind: "generator", mergedAt } };
  if (commit === undefined) throw new CommandError(2, "what is the change? give --revision R, --commit SHA --repo DIR, or --intended FILE");
  if (repo === undefined) throw new CommandError(2, "--commit needs --repo DIR, a clone of the config repo");
  const sha = await commitIn(repo, commit);
  const repoURL = options.repoUrl ?? (await repoOf(repo, views));
  return { change: { kind: "commit", commit: sha, repoURL, mergedAt }, ancestry: await ancestryIn(repo, sha, seenRevisions(views)) };
}

/** Where the clone is of the repo that the revision is followed in, and knows it as a tag, Argo CD must agree. */
async function asTag({ repo, repoUrl }: Options, revision: string, mergedAt: string, views: ApplicationView[]): Promise<Partial<Chosen>> {
  const commit = repo === undefined ? undefined : await tagIn(repo, revision);
  if (repo === undefined || commit === undefined) return {};
  const repoURL = repoUrl ?? (await repoOf(repo, views));
  const followed = views.flatMap((view) => view.spec.sources).some((source) => follows(source, revision, repoURL));
  if (!followed) return {};
  return { change: { kind: "revision", revision, commit, mergedAt }, ancestry: await ancestryIn(repo, commit, seenRevisions(views)) };
}

function follows(source: SourceView, revision: string, repoURL: string): boolean {
  return source.targetRevision === revision && source.chart === undefined && normalRepo(source.repoURL) === normalRepo(repoURL);
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

/** Every object of a YAML or JSON file: several documents, Lists and arrays are taken apart. */
async function objectsIn(file: string): Promise<{ objects: unknown[]; isList: boolean }> {
  let text: string;
  try {
    text = file === "-" ? await textOf(process.stdin) : await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw new CommandError(2, `${file} is not there`);
    throw new CommandError(2, `${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const found: unknown[] = [];
  let isList = false;
  for (const value of parsed(file, text)) {
    isList ||= word(fields(value), "kind")?.endsWith("List") === true;
    if (Array.isArray(value)) found.push(...value);
    else if (Array.isArray(own(fields(value), "items"))) found.push(...list(fields(value), "items"));
    else if (value !== null && value !== undefined) found.push(value);
  }
  return { objects: found, isList };
}

/** JSON by itself is many times faster than as YAML, and a status may have megabytes. */
function parsed(file: string, text: string): unknown[] {
  if (/^\s*[{[]/.test(text)) {
    try {
      return [JSON.parse(text) as unknown];
    } catch {
      // YAML in flow style begins like this too.
    }
  }
  try {
    const documents = parseAllDocuments(text, { uniqueKeys: false });
    return (Array.isArray(documents) ? documents : []).map((document) => {
      const problem = document.errors[0];
      if (problem !== undefined) throw new CommandError(2, `${file}: ${problem.message}`);
      return document.toJS({ maxAliasCount: 100 }) as unknown;
    });
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(2, `${file} cannot be read as YAML: ${error instanceof Error ? error.message.slice(0, 200) : String(error)}`);
  }
}

/** undefined: the file is a List without items, as kubectl prints where there is no such Application: that is an answer. */
async function applicationIn(file: string, now: number): Promise<ApplicationView | undefined> {
  const { objects, isList } = await objectsIn(file);
  const applications = objects.filter((object) => (word(fields(object), "kind") ?? "Application") === "Application");
  const views = applications.map((object) => decodeApplication(object, now)).filter((view) => view !== undefined);
  if (views.length > 1) {
    const names = views.slice(0, 3).map(({ namespace, name }) => `${namespace}/${name}`);
    const more = views.length > 3 ? " …" : "";
    throw new CommandError(2, `${file} holds ${views.length} Applications (${names.join(", ")}${more}); give the one in question`);
  }
  if (views.length === 1 || (isList && objects.length === 0)) return views[0];
  const where = file === "-" ? "standard input" : file;
  if (objects.length === 0) throw new CommandError(2, `${where} is empty: give what \`kubectl get application NAME -o yaml\` prints`);
  const kinds = [...new Set(objects.map((object) => word(fields(object), "kind") ?? typeof object))].slice(0, 3).join(", ");
  throw new CommandError(2, `${where} holds no Application with a metadata.name, but: ${kinds.slice(0, 100)}`);
}

async function clusterIn(file: string, application: ApplicationView | undefined): Promise<ClusterView> {
  const { objects } = await objectsIn(file);
  const decode = (object: unknown) => (word(fields(object), "kind") === "Secret" ? decodeClusterSecret(object) : decodeClusterItem(object));
  const clusters = objects.map(decode).filter((cluster) => cluster !== undefined);
  const { name, server } = application?.spec.destination ?? {};
  const chosen = clusters.find((cluster) => cluster.name === name || cluster.server === server?.replace(/\/+$/, ""));
  const found = clusters.length === 1 ? clusters[0] : chosen;
  if (found === undefined) throw new CommandError(2, `${file} holds no cluster ${name ?? server ?? ""}`);
  return found;
}

/** A rendered Application, one of several by its name, or the bare spec. */
async function intendedIn(file: string, application: ApplicationView | undefined): Promise<Intended> {
  const { objects } = await objectsIn(file);
  const named = (object: unknown) => word(child(fields(object), "metadata"), "name") === application?.name;
  const object = objects.length === 1 ? objects[0] : objects.find(named);
  const spec = own(fields(object), "spec") === undefined ? { spec: object } : object;
  const intended = decodeIntended(spec);
  if (intended.sources.length === 0) throw new CommandError(2, `${file} holds no Application ${application?.name ?? ""} with a source`);
  return intended;
}

function shown({ verdict, clause, sentence, lookAgainAt, wantsRefresh, evidence }: Assessment): string {
  const rows = Object.entries({ resourceVersion: evidence.resourceVersion ?? null, readAt: evidence.readAt, ...evidence.fields });
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    `${verdict}${verdict === "live" ? "" : ` (clause ${clause})`}: ${sentence}`,
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
  return [`Clause ${name}: ${holds}. Protects from ${protects} (${bitten.join(", ")}).`];
}
