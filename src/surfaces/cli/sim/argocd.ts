/** `stagecoach sim argocd`: the embedded Kubernetes and Argo CD run until they are stopped; the first line printed says where. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { readInventory } from "../../../core/argocd/inventory-file.ts";
import { defined } from "../../../core/base/defined.ts";
import { errorText } from "../../../core/base/error-text.ts";
import { sayInventoryFault } from "../../../core/report/reasons/problems/inventory.ts";
import { SHORT_LAG } from "../../../sim/argocd/application/lag.ts";
import type { ClusterOptions } from "../../../sim/argocd/clusters.ts";
import { openGitSource } from "../../../sim/argocd/git/git-source.ts";
import { startArgoCd } from "../../../sim/argocd/index.ts";
import { fastClock } from "../../../sim/clock.ts";
import { startKubernetes } from "../../../sim/kubernetes/index.ts";
import { gather, parseArgs, port, portError, readGiven, untilStopped, whole } from "../args.ts";
import { CommandError } from "../command.ts";
import { inOwnFolder } from "../own-folder.ts";

interface Options {
  repoUrl: string;
  repoAlias?: string[];
  token?: string;
  revision: string;
  path: string;
  inventory?: string;
  speed: number;
  seed: number;
  port: number;
  host: string;
  tls?: boolean;
  quick?: boolean;
}

function speedOf(text: string): number {
  const speed = Number(text);
  if (!(speed > 0 && speed <= 1000)) throw new InvalidArgumentError("write a number above 0, at most 1000");
  return speed;
}

function program(): Command {
  return new Command("stagecoach sim argocd")
    .usage("--repo-url URL [options]")
    .description(
      "a Kubernetes API and an Argo CD that follows a config repo, until SIGTERM; prints {kubeconfig, url, token} as one JSON line when ready",
    )
    .requiredOption("--repo-url <url>", "the config repo, as git fetches it")
    .option("--repo-alias <url>", "another URL under which files name that repo; may be repeated", gather)
    .option("--token <token>", "for fetching it (default: $GIT_TOKEN)")
    .option("--revision <ref>", "what is applied from it", "main")
    .option("--path <folder>", "the folder whose ApplicationSets, Applications and AppProjects are applied", ".")
    .option("--inventory <file>", "clusters to register: Secrets as kubectl prints them")
    .option("--speed <factor>", "how many times as fast as the wall's its clock runs", speedOf, 1)
    .option("--quick", "Argo CD and its clusters take a fraction of a second for what takes them seconds")
    .option("--seed <number>", "everything random follows from it", whole, 1)
    .option("--port <number>", "of Argo CD's API, where webhooks go; 0: any free one", port, 0)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--tls", "both serve TLS, by a CA of their own, which kubectl and the argocd CLI want");
}

export async function run(argv: readonly string[]): Promise<number> {
  const command = parseArgs(program(), argv);
  if (command === undefined) return 0;
  const options = command.opts<Options>();
  const clusters = options.inventory === undefined ? [] : readClusters(options.inventory);
  const stopped = untilStopped();
  return await inOwnFolder("stagecoach-argocd-", async (folder) => {
    const { close, ...shown } = await start(options, clusters, folder);
    process.stdout.write(`${JSON.stringify(shown)}\n`);
    await stopped;
    await close();
    return 0;
  });
}

function readClusters(file: string): ClusterOptions[] {
  const { clusters, problems } = readInventory(readGiven("--inventory", file, 3), file);
  const [problem] = problems;
  if (problem !== undefined) throw new CommandError(1, sayInventoryFault(problem));
  return clusters.map(({ name, server, labels }) => defined({ name, labels, server: server || undefined }));
}

interface Started {
  kubeconfig: string;
  /** Of Argo CD's API. */
  url: string;
  /** Of its account that may do everything. */
  token: string;
  /** File with the CA of Argo CD's API, where it serves TLS. */
  ca?: string;
  close(): Promise<void>;
}

/** Both servers, and a kubeconfig that only this user may read. */
async function start(options: Options, clusters: readonly ClusterOptions[], folder: string): Promise<Started> {
  const { repoUrl, repoAlias = [], revision, path, speed, seed, port, host, tls = false } = options;
  const token = options.token ?? process.env["GIT_TOKEN"];
  const source = await openGitSource(defined({ url: repoUrl, aliases: repoAlias, token, directory: folder }));
  try {
    await source.fetch();
  } catch (error) {
    await source.close();
    throw new CommandError(3, `the repo ${repoUrl} cannot be fetched: ${errorText(error)}; give --token if it is private`);
  }
  const clock = fastClock(speed);
  const kubernetes = await startKubernetes({ clock, host, tls });
  // A comparison within the second in which a sync ended proves nothing, and would be waited out.
  const lag = options.quick === true ? { ...SHORT_LAG, refresh: 1100, health: 1100 } : {};
  const bootstrap = { repoURL: repoUrl, revision, path };
  const argocd = await startArgoCd({ kubernetes, clock, git: source, seed, clusters, bootstrap, port, host, tls, lag }).catch(
    async (error: Error) => {
      await source.close();
      await kubernetes.close();
      throw portError(error) ?? new CommandError(3, error.message);
    },
  );
  const kubeconfig = join(folder, "config");
  await writeFile(kubeconfig, kubernetes.kubeconfig(), { mode: 0o600 });
  const ca = argocd.ca === undefined ? undefined : join(folder, "ca.crt");
  if (ca !== undefined) await writeFile(ca, argocd.ca ?? "");
  return {
    kubeconfig,
    url: argocd.url,
    token: argocd.api.token,
    ...defined({ ca }),
    async close() {
      await argocd.close();
      await kubernetes.close();
    },
  };
}
