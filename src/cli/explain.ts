import { readFile } from "node:fs/promises";
import { text as textOf } from "node:stream/consumers";
import { Command, Option } from "commander";
import { parseAllDocuments } from "yaml";
import { decodeApplication, decodeIntended } from "../argocd/decode.ts";
import { decodeClusterItem, decodeClusterSecret } from "../argocd/decode-cluster.ts";
import { child, fields, list, own, word } from "../argocd/lenient.ts";
import { assess, type Change, type Intended, type LivenessInput } from "../argocd/liveness.ts";
import type { ApplicationView, ClusterView } from "../argocd/port.ts";
import { epoch, parseDuration } from "../rollout/time.ts";
import type { Assessment } from "../rollout/world.ts";
import { CommandError } from "./command.ts";
import { ancestryIn, commitIn, repoOf, seenRevisions } from "./explain-git.ts";
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
    .option("--repo <dir>", "a clone of the config repo, to tell whether what Argo CD has seen contains the commit")
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
  process.stdout.write(options.output === "json" ? `${JSON.stringify(assessment, null, 2)}\n` : visible(shown(assessment)));
  return 0;
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
    return { change: elsewhere ? { kind: "generator", mergedAt } : { kind: "revision", revision, mergedAt } };
  }
  if (intended !== undefined) return { change: { kind: "generator", mergedAt } };
  if (commit === undefined) throw new CommandError(2, "what is the change? give --revision R, --commit SHA --repo DIR, or --intended FILE");
  if (repo === undefined) throw new CommandError(2, "--commit needs --repo DIR, a clone of the config repo");
  const sha = await commitIn(repo, commit);
  const repoURL = options.repoUrl ?? (await repoOf(repo, views));
  return { change: { kind: "commit", commit: sha, repoURL, mergedAt }, ancestry: await ancestryIn(repo, sha, seenRevisions(views)) };
}

function timeOf(option: string, text: string): number {
  const ms = /^\d{4}-\d\d-\d\dT/.test(text) ? epoch(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new CommandError(2, `${option} ${text}: not a time; write it as 2026-11-21T10:00:00Z`);
  return ms;
}

function durationOf(option: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new CommandError(2, `${option} ${text}: not a duration; write it as 10s or 1m30s`);
  return ms;
}

/** Every object of a YAML or JSON file: several documents, Lists and arrays are taken apart. */
async function objectsIn(file: string): Promise<unknown[]> {
  let text: string;
  try {
    text = file === "-" ? await textOf(process.stdin) : await readFile(file, "utf8");
  } catch (error) {
    throw new CommandError(2, `${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const found: unknown[] = [];
  const documents = parseAllDocuments(text, { uniqueKeys: false });
  for (const document of Array.isArray(documents) ? documents : []) {
    const problem = document.errors[0];
    if (problem !== undefined) throw new CommandError(2, `${file}: ${problem.message}`);
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    if (Array.isArray(value)) found.push(...value);
    else if (Array.isArray(own(fields(value), "items"))) found.push(...list(fields(value), "items"));
    else if (value !== null && value !== undefined) found.push(value);
  }
  return found;
}

/** undefined: the file holds none, as an empty list of kubectl does. */
async function applicationIn(file: string, now: number): Promise<ApplicationView | undefined> {
  const objects = await objectsIn(file);
  const views = objects.map((object) => decodeApplication(object, now)).filter((view) => view !== undefined);
  if (views.length > 1) throw new CommandError(2, `${file} holds ${views.length} Applications; give the one in question`);
  if (views.length === 0 && objects.length > 0) throw new CommandError(2, `${file} holds no Application with a metadata.name`);
  return views[0];
}

async function clusterIn(file: string, application: ApplicationView | undefined): Promise<ClusterView> {
  const objects = await objectsIn(file);
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
  const objects = await objectsIn(file);
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
    "",
    ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value ?? "-"}`),
    "",
  ].join("\n");
}
