/**
 * A whole run by two replicas over PostgreSQL: what is written there for each batch, and how much later a page that the other replica serves
 * shows the same. GitHub and Argo CD are this process. Run by `npm run bench shared`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SHORT_LAG } from "../../src/sim/argocd/application/lag.ts";
import { startWorld } from "../../src/sim/world.ts";
import { type Heard, hearing } from "../../src/surfaces/web/api/testing/hearing.ts";
import { short } from "../support/journey.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { type Replica, startReplica } from "../support/replica.ts";
import type { BenchRow } from "./row.ts";

export async function benchShared(): Promise<BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), "stagecoach-shared-"));
  const postgres = await startPostgres();
  const world = await startWorld({ lag: SHORT_LAG, files: short() });
  const replicas: Replica[] = [];
  try {
    const { url, name } = await postgres.database();
    for (let n = 0; n < 2; n++) replicas.push(await startReplica(world, url, folder));
    const [owner, other] = replicas as [Replica, Replica];
    world.deliverTo(other.hook);
    const alice = world.github.actAs("alice");
    const pull = await world.openReleasePull(alice);
    await world.untilComment(pull, "Plan:");
    const before = await written(postgres, name);
    await alice.mergePull(world.repository, pull, "squash");
    const lines = await Promise.all([owner, other].map((one) => listen(one, world.repository)));
    const [atOwner, atOther] = (await Promise.all(lines.map(seenUntilTheEnd))) as [Map<string, number>, Map<string, number>];
    const after = await written(postgres, name);
    const delays = [...atOther].flatMap(([text, at]) => (atOwner.has(text) ? [at - (atOwner.get(text) ?? at)] : []));
    const batches = await batchesOf(owner, world.repository);
    const rows = (what: keyof Written) => (after[what] - before[what]) / batches;
    const title = `a run of ${batches} batches by one of two replicas`;
    return [
      { name: `${title}: rows that are shown, a batch`, value: rows("shown"), unit: "rows" },
      { name: `${title}: rows besides, a batch, without leases`, value: rows("rest"), unit: "rows" },
      { name: `${title}: the other's page is later, p50 of ${delays.length}`, value: at(delays, 0.5), unit: "ms" },
      { name: `${title}: the other's page is later, p99`, value: at(delays, 0.99), unit: "ms" },
    ];
  } finally {
    for (const { process } of replicas) {
      process.child.kill("SIGKILL");
      await process.ended;
    }
    await world.close();
    postgres.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Written {
  shown: number;
  rest: number;
}

/** Rows put, changed and taken away; who lives is renewed once a second whatever happens. */
async function written(postgres: PostgresServer, name: string): Promise<Written> {
  const rows = await postgres.query(
    "select relname, n_tup_ins + n_tup_upd + n_tup_del as n from pg_stat_user_tables where schemaname = 'stagecoach' and relname <> 'replicas'",
    name,
  );
  const of = (isShown: boolean) =>
    rows.filter((row) => (row["relname"] === "shown") === isShown).reduce((sum, { n }) => sum + Number(n), 0);
  return { shown: of(true), rest: of(false) };
}

/** Once there is a run to listen to. */
async function listen({ inside }: Replica, repository: string): Promise<Heard> {
  while (!(await fetch(`${inside}/api/v1/repos/${repository}/rollouts/my-app`)).ok) await sleep(50);
  return hearing(await fetch(`${inside}/api/v1/events?rollout=${repository}/my-app`));
}

async function batchesOf({ inside }: Replica, repository: string): Promise<number> {
  const run = await (await fetch(`${inside}/api/v1/repos/${repository}/rollouts/my-app`)).text();
  return run.split('"kind":"batch"').length - 1;
}

/** When each change of what is shown came. */
async function seenUntilTheEnd(line: Heard): Promise<Map<string, number>> {
  const seen = new Map<string, number>();
  for (let isOver = false; !isOver; ) {
    const { event, data } = await line.next();
    if (event !== "rollout") continue;
    for (const change of data["patch"] as { path: string }[]) {
      const text = JSON.stringify(change);
      // What it says of its own moment is each replica's.
      if (change.path !== "/asOf" && !seen.has(text)) seen.set(text, performance.now());
      isOver ||= change.path === "/endedAt";
    }
  }
  await line.close();
  return seen;
}

function at(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
}
