/** `stagecoach appset render`: ApplicationSets are rendered offline, from a file, an inventory and a checkout. Nothing is sent anywhere. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { Option } from "commander";
import { type AppSetCluster, type RenderContext, type RenderResult, readYamlDocuments, render } from "../../../core/appset/index.ts";
import { type InventoryCluster, readInventory } from "../../../core/argocd/inventory-file.ts";
import { defined } from "../../../core/base/defined.ts";
import { sayRender } from "../../../core/report/reasons/render.ts";
import { nestedCommand, runNested } from "../args.ts";
import { CommandError } from "../command.ts";
import { openCheckout } from "../lint/lint-checkout.ts";
import { visible } from "../print.ts";
import { asJson, asText, asYaml, type RenderedSet } from "./print.ts";

interface Options {
  inventory?: string;
  repo?: string;
  newGlobbing?: boolean;
  output: "text" | "json" | "yaml";
  params?: boolean;
}

/** A file of manifests larger than this is a mistake. */
const LARGEST = 20 * 1024 * 1024;

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
    .addOption(new Option("-o, --output <FORMAT>", "how to print").choices(["text", "json", "yaml"]).default("text"))
    .addHelpText("after", HELP)
    .exitOverride()
    .action((file: string, options: Options) => {
      code = renderFile(file, options);
    });
  return (await runNested(program, argv)) ?? code;
}

function renderFile(file: string, options: Options): number {
  const { sets, problems } = renderSets(read(file), file === "-" ? "standard input" : file, options);
  const print = { json: asJson, yaml: asYaml, text: asText }[options.output];
  const text = print(sets, options.params === true);
  process.stdout.write(options.output === "text" ? visible(text) : text);
  for (const problem of problems) process.stderr.write(`${visible(problem)}\n`);
  return problems.length === 0 ? 0 : 1;
}

function renderSets(text: string, file: string, options: Options): { sets: RenderedSet[]; problems: string[] } {
  const problems: string[] = [];
  const { context, note } = contextOf(options, problems);
  const sets: RenderedSet[] = [];
  for (const document of readYamlDocuments(text)) {
    const place = `${file}:${document.line}`;
    if (document.problem !== undefined) {
      problems.push(
        `${place}:${document.column}: not YAML: ${document.problem}${/\{\{-? *(if|range|include|\.Values|\/\*)/.test(text) ? "; it looks like a Helm template: render the chart first" : ""}`,
      );
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

function contextOf(options: Options, problems: string[]): { context: RenderContext; note: string } {
  const clusters: AppSetCluster[] = options.inventory === undefined ? [] : clustersOf(options.inventory, problems);
  const globbing = { newGitFileGlobbing: options.newGlobbing === true };
  if (options.repo === undefined) return { context: { clusters, ...globbing }, note: "" };
  const checkout = standIn(options.repo);
  return { context: { clusters, repo: checkout.repo, ...globbing }, note: checkout.note };
}

function clustersOf(file: string, problems: string[]): AppSetCluster[] {
  const inventory = readInventory(read(file), file);
  problems.push(...inventory.problems);
  return inventory.clusters.map(toCluster);
}

function toCluster({ name, server, labels, annotations, project }: InventoryCluster): AppSetCluster {
  return defined({ name, server, labels, annotations, project });
}

function read(file: string): string {
  if (file === "-") return readFileSync(0, "utf8");
  if (!existsSync(file) || !statSync(file).isFile()) throw new CommandError(2, `${file} is not a file`);
  const { size } = statSync(file);
  if (size > LARGEST)
    throw new CommandError(1, `${file} has ${Math.round(size / 1024 / 1024)} MiB; at most ${LARGEST / 1024 / 1024} are read`);
  return readFileSync(file, "utf8");
}

interface StandIn {
  repo: NonNullable<RenderContext["repo"]>;
  /** Why a repository is not served by it; empty: all are. */
  note: string;
}

/**
 * A checkout in place of the repositories git generators name: those of the same owner and name as its `origin`, or every
 * one where it has no origin. Its files stand for any revision.
 */
function standIn(dir: string): StandIn {
  const checkout = openCheckout(dir);
  const origin = originOf(checkout.root);
  if (origin === undefined) return { repo: () => checkout, note: "" };
  const own = ownerAndName(origin);
  return {
    repo: (url) => (ownerAndName(url) === own ? checkout : undefined),
    note: `--repo ${dir} is a checkout of ${own}; give a checkout of that repository, or a copy without a remote to use it for all`,
  };
}

function originOf(dir: string): string | undefined {
  try {
    const url = execFileSync("git", ["-C", dir, "config", "--get", "remote.origin.url"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    return url === "" ? undefined : url;
  } catch {
    return undefined;
  }
}

/** `acme/config` of any spelling of the URL: https, ssh, with or without `.git`; never its credentials. */
function ownerAndName(url: string): string {
  const path = url.replace(/^[a-z+]+:\/\/[^/]*\//i, "").replace(/^[^/]*:/, "");
  const segments = path
    .replace(/\/+$/, "")
    .replace(/\.git$/i, "")
    .split("/");
  return segments.slice(-2).join("/").toLowerCase();
}
