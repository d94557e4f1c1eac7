/** `stagecoach appset render`: ApplicationSets are rendered offline, from a file, an inventory and a checkout. Nothing is sent anywhere. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { Document } from "yaml";
import { sourceOf } from "../../../core/appset/compare.ts";
import { render } from "../../../core/appset/render.ts";
import type { AppSetCluster, RenderContext, RenderedApplication, RenderedGenerator, RenderResult } from "../../../core/appset/types.ts";
import { readInventory } from "../../../core/argocd/inventory-file.ts";
import { count } from "../../../core/base/count.ts";
import { defined } from "../../../core/base/defined.ts";
import { readYamlDocuments } from "../../../core/base/yaml-read.ts";
import { sayInventoryFault } from "../../../core/report/reasons/problems/inventory.ts";
import { sayRender } from "../../../core/report/reasons/render.ts";
import { nestedCommand, outputOption, runNested } from "../args.ts";
import { CommandError } from "../command.ts";
import { openCheckout } from "../lint/lint-checkout.ts";
import { originOf } from "../lint/origin.ts";
import { alignColumns, json, visible } from "../print.ts";

interface Sources {
  inventory?: string;
  repo?: string;
  newGlobbing?: boolean;
}

interface Options extends Sources {
  output: "text" | "json" | "yaml";
  params?: boolean;
}

/** A file of manifests larger than this is a mistake. */
const MIB = 1024 * 1024;
const LARGEST = 20 * MIB;

const HELP = `
FILE may hold several documents; every ApplicationSet in it is rendered. "-" reads standard input.

--inventory FILE   what "kubectl get secrets -l argocd.argoproj.io/secret-type=cluster -o yaml" prints: the clusters of
                   clusters generators. Without it there is only Argo CD's own, in-cluster.
--repo DIR         a checkout that git generators read, at whatever revision they name. Where it has a remote "origin",
                   only for repoURLs of the same owner and name; where it has none, for every repoURL.

-o json            an array of Applications, as Argo CD would create them, of all sets of FILE in order.
-o json --params   an array with one object per top-level generator, in order:
                     {"applicationSet": NAME, "index": 0, "kind": "list", "params": [{…}, …], "requeueAfterSeconds": 180}
                   where one cannot be evaluated, params is [] and
                     "problem": {"code", "where", "message", "hint"} says why.

Exit code 0: all rendered. 1: some set cannot be rendered; each reason is a line on standard error, and what could be
rendered is printed. Nothing is sent anywhere: scmProvider, pullRequest, plugin and clusterDecisionResource generators
need Argo CD.`;

/** `stagecoach appset …` */
export async function run(argv: readonly string[]): Promise<number> {
  let code = 0;
  const program = nestedCommand("stagecoach appset").description("ApplicationSets, rendered without a cluster");
  program
    .command("render")
    .description("prints the Applications an ApplicationSet would generate")
    .argument("FILE", "YAML or JSON with ApplicationSets")
    .option("--inventory <FILE>", "clusters, as kubectl prints their Secrets")
    .option("--repo <DIR>", "a checkout that git generators read")
    .option("--new-globbing", "git file patterns as with Argo CD's new globbing: * stops at /")
    .option("--params", "the generators' parameters instead of Applications")
    .addOption(outputOption("text", "json", "yaml"))
    .addHelpText("after", HELP)
    .exitOverride()
    .action((file: string, options: Options) => {
      code = renderFile(file, options);
    });
  return (await runNested(program, argv)) ?? code;
}

function renderFile(file: string, { output, params = false, ...options }: Options): number {
  const { sets, problems } = renderSets(read(file), file === "-" ? "standard input" : file, options);
  const items = itemsOf(sets, params);
  if (output === "json") process.stdout.write(json(items));
  else if (output === "yaml") process.stdout.write(asYaml(items));
  else process.stdout.write(visible(sets.map((set) => (params ? paramsText(set) : applicationsText(set))).join("\n")));
  for (const problem of problems) process.stderr.write(`${visible(problem)}\n`);
  return problems.length === 0 ? 0 : 1;
}

function renderSets(text: string, file: string, options: Sources): { sets: RenderedSet[]; problems: string[] } {
  const problems: string[] = [];
  const { context, note } = contextOf(options, problems);
  const sets: RenderedSet[] = [];
  for (const document of readYamlDocuments(text)) {
    const place = `${file}:${document.line}`;
    if (document.problem !== undefined) {
      const isHelm = /\{\{-? *(if|range|include|\.Values|\/\*)/.test(text);
      const hint = isHelm ? "; it looks like a Helm template: render the chart first" : "";
      problems.push(`${place}:${document.column}: not YAML: ${document.problem}${hint}`);
      continue;
    }
    for (const object of applicationSets(document.value)) {
      const result = render(object, context);
      sets.push({ name: nameOf(object), result });
      problems.push(...linesOf(result, `${place}: ApplicationSet ${nameOf(object)}`, note));
    }
  }
  if (sets.length === 0 && problems.length === 0) problems.push(`${file}: no ApplicationSet in it`);
  return { sets, problems };
}

function linesOf(result: RenderResult, prefix: string, note: string): string[] {
  return result.problems.map((problem) => {
    const { message, hint } = sayRender(problem);
    const more = problem.code === "NO_REPO" && note !== "" ? note : hint;
    return `${prefix}: ${problem.where}: ${message} [${problem.code}]; ${more}`;
  });
}

function applicationSets(value: unknown): Record<string, unknown>[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const object = value as Record<string, unknown>;
  if (Array.isArray(object["items"])) return object["items"].flatMap(applicationSets);
  return object["kind"] === "ApplicationSet" ? [object] : [];
}

function nameOf(object: Record<string, unknown>): string {
  const metadata = object["metadata"] as { name?: unknown; generateName?: unknown } | null | undefined;
  return typeof metadata?.name === "string" ? metadata.name : "(no name)";
}

function contextOf(options: Sources, problems: string[]): { context: RenderContext; note: string } {
  const clusters: AppSetCluster[] = options.inventory === undefined ? [] : clustersOf(options.inventory, problems);
  const globbing = { newGitFileGlobbing: options.newGlobbing === true };
  const { repo, note } = options.repo === undefined ? { repo: undefined, note: "" } : standIn(options.repo);
  return { context: { clusters, ...globbing, ...defined({ repo }) }, note };
}

function clustersOf(file: string, problems: string[]): AppSetCluster[] {
  const inventory = readInventory(read(file), file);
  problems.push(...inventory.problems.map(sayInventoryFault));
  return inventory.clusters.map(({ name, server, labels, annotations, project }) =>
    defined({ name, server, labels, annotations, project }),
  );
}

function read(file: string): string {
  if (file === "-") return readFileSync(0, "utf8");
  if (!existsSync(file) || !statSync(file).isFile()) throw new CommandError(2, `${file} is not a file`);
  const { size } = statSync(file);
  if (size > LARGEST) throw new CommandError(1, `${file} has ${Math.round(size / MIB)} MiB; at most ${LARGEST / MIB} are read`);
  return readFileSync(file, "utf8");
}

/**
 * A checkout in place of the repositories git generators name: those of the same owner and name as its `origin`, or every
 * one where it has no origin. Its files stand for any revision. `note`: why a repository is not served by it.
 */
function standIn(dir: string): { repo: NonNullable<RenderContext["repo"]>; note: string } {
  const checkout = openCheckout(dir);
  const { repoURL } = originOf(checkout.root);
  if (repoURL === undefined) return { repo: () => checkout, note: "" };
  const own = ownerAndName(repoURL);
  return {
    repo: (url) => (ownerAndName(url) === own ? checkout : undefined),
    note: `--repo ${dir} is a checkout of ${own}; give a checkout of that repository, or a copy without a remote to use it for all`,
  };
}

/** `acme/config` of any spelling of the URL: https, ssh, with or without `.git`; never its credentials. */
function ownerAndName(url: string): string {
  const path = url.replace(/^[a-z+]+:\/\/[^/]*\//i, "").replace(/^[^/]*:/, "");
  return path
    .replace(/(?<!\/)\/+$/, "")
    .replace(/\.git$/i, "")
    .split("/")
    .slice(-2)
    .join("/")
    .toLowerCase();
}

interface RenderedSet {
  name: string;
  result: RenderResult;
}

/** One object per top-level generator, as `--params -o json` documents it. */
function generatorRows(sets: readonly RenderedSet[]): Record<string, unknown>[] {
  return sets.flatMap(({ name, result }) => result.generators.map((generator) => generatorRow(name, generator)));
}

function generatorRow(applicationSet: string, { problem, ...generator }: RenderedGenerator): Record<string, unknown> {
  if (problem === undefined) return { applicationSet, ...generator };
  return { applicationSet, ...generator, problem: { code: problem.code, where: problem.where, ...sayRender(problem) } };
}

/** What is printed for scripts: Applications, or with `--params` a row for each generator. */
function itemsOf(sets: readonly RenderedSet[], params: boolean): unknown[] {
  return params ? generatorRows(sets) : sets.flatMap((set) => set.result.applications);
}

/** One document each, as `kubectl apply -f` takes them. */
function asYaml(items: readonly unknown[]): string {
  const documents = (JSON.parse(JSON.stringify(items)) as unknown[]).map((item) => new Document(item, { aliasDuplicateObjects: false }));
  return documents.map((document) => document.toString({ lineWidth: 0 })).join("---\n");
}

function paramsText({ name, result }: RenderedSet): string {
  const lines = result.generators.flatMap((generator) => {
    const head = `${name}  generator ${generator.index} (${generator.kind})`;
    if (generator.problem !== undefined) return [`${head}: ${sayRender(generator.problem).message}`];
    return [`${head}: ${count(generator.params.length, "parameter set")}`, ...generator.params.map((set) => `  ${JSON.stringify(set)}`)];
  });
  return `${lines.join("\n")}\n`;
}

function applicationsText({ name, result }: RenderedSet): string {
  if (!result.ok) return `${name}: cannot be rendered\n`;
  const rows = alignColumns(result.applications.map(row)).map((line) => `  ${line}`);
  return `${[`${name}: ${count(rows.length, "Application")}`, ...rows].join("\n")}\n`;
}

/** Name, where to, and what at which revision. */
function row(application: RenderedApplication): string[] {
  const { sources, destination } = sourceOf(application);
  const place = [destination["name"] ?? destination["server"] ?? "?", destination["namespace"]]
    .filter((part) => part !== undefined)
    .join("/");
  const what = sources.map(
    (source) =>
      `${String(source["path"] ?? source["chart"] ?? source["ref"] ?? source["repoURL"] ?? "?")}@${String(source["targetRevision"] ?? "HEAD")}`,
  );
  return [application.metadata.name, place, what.join(", ")];
}
