/**
 * 50,000 Applications of one Argo CD and 100 repositories, shared by four replicas over PostgreSQL: what each of them weighs, as it is packed and
 * started in the image. GitHub and Kubernetes are this process. Run by `npm run bench fleet`.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fastClock } from "../../src/sim/clock.ts";
import { startGitHub } from "../../src/sim/github/start.ts";
import { startKubernetes } from "../../src/sim/kubernetes/index.ts";
import { build, type Started, start } from "../chaos/processes.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { imageFlags, makeRepo, peak, weight } from "./idle.ts";
import type { BenchRow } from "./row.ts";

const REPLICAS = 4;
const REPOS = 100;
/** Of each of ten rollouts. */
const CLUSTERS = 50;
const MOST_MB = 400;
const REST_MS = 20_000;

export async function benchFleet(): Promise<BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), "stagecoach-fleet-"));
  const clock = fastClock(1);
  const github = await startGitHub({ clock });
  const kubernetes = await startKubernetes({ clock });
  const postgres = await startPostgres();
  const replicas: Started[] = [];
  try {
    for (let repo = 0; repo < REPOS; repo++) await makeRepo(github, kubernetes, repo, { clusters: CLUSTERS });
    const { url, name } = await postgres.database();
    const program = build(join(folder, "program"));
    const { id, privateKey } = github.app;
    const env = {
      ...{ GHE_HOST: new URL(github.url).host, GHE_PROTOCOL: "http", HOST: "127.0.0.1", PORT: "0", INSIDE_PORT: "0" },
      ...{ APP_ID: String(id), PRIVATE_KEY: privateKey, WEBHOOK_SECRET: "the secret of the bench" },
    };
    for (let n = 0; n < REPLICAS; n++) {
      const cwd = await configure(join(folder, `replica-${n}`), kubernetes.kubeconfig(), url);
      replicas.push(start([...imageFlags(), program, "serve"], { cwd, env, word: '"msg":"ready"' }));
    }
    await Promise.all(replicas.map(({ line }) => line));
    await atRest(postgres, name);
    const rest = replicas.map(({ child }) => weight(child.pid ?? 0));
    const pages = await looked(replicas);
    const seen = replicas.map(({ child }) => weight(child.pid ?? 0));
    const peaks = replicas.map(({ child }) => peak(child.pid ?? 0));
    return rowsOf(kubernetes.store.list("applications").length, { rest, seen, pages, peaks });
  } finally {
    for (const { child } of replicas) child.kill("SIGKILL");
    postgres.remove();
    await kubernetes.close();
    await github.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function configure(cwd: string, kubeconfig: string, url: string): Promise<string> {
  await mkdir(cwd);
  const config = "controlPlanes: [{ name: hub, kubeconfig: kubeconfig, clusterSecrets: true }]\nqueue: { kind: postgres, urlFile: url }\n";
  for (const [name, text] of Object.entries({ "stagecoach.yaml": config, kubeconfig, url: `${url}\n` }))
    await writeFile(join(cwd, name), text);
  return cwd;
}

/** Every replica has its share, and was left alone for a while since. */
async function atRest(postgres: PostgresServer, name: string): Promise<void> {
  const shares = async () =>
    await postgres.query("select count(*) as n from stagecoach.repositories where owner is not null group by owner", name);
  const isShared = (rows: Record<string, unknown>[]) => rows.length === REPLICAS && rows.every(({ n }) => Number(n) <= REPOS / REPLICAS);
  while (!isShared(await shares())) await sleep(500);
  await sleep(REST_MS);
}

/** Somebody looks at the whole fleet on each of them. */
async function looked(replicas: readonly Started[]): Promise<number[]> {
  return await Promise.all(
    replicas.map(async ({ line }) => {
      const inside = (JSON.parse(await line) as { insideUrl: string }).insideUrl;
      const answer = await fetch(`${inside}/api/v1/fleet`);
      return (await answer.text()).length / 1024;
    }),
  );
}

interface Weights {
  rest: readonly { own: number; all: number }[];
  seen: readonly { own: number; all: number }[];
  peaks: readonly number[];
  pages: readonly number[];
}

function rowsOf(applications: number, { rest, seen, pages, peaks }: Weights): BenchRow[] {
  const name = `${applications} Applications, ${REPOS} repos, ${REPLICAS} whole servers`;
  const largest = (of: readonly number[]) => Math.max(...of);
  return [
    { name: `${name}: resident, the largest`, value: largest(rest.map(({ own }) => own)), unit: "MB", limit: MOST_MB },
    { name: `${name}: with its git processes`, value: largest(rest.map(({ all }) => all)), unit: "MB", limit: MOST_MB },
    { name: `${name}: once its page was looked at`, value: largest(seen.map(({ all }) => all)), unit: "MB", limit: MOST_MB },
    { name: `${name}: most since the start, without git`, value: largest(peaks), unit: "MB" },
    { name: `${name}: what its page says of the fleet`, value: largest(pages), unit: "KiB" },
  ];
}
