import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { SHORT_LAG } from "../../src/sim/argocd/application/lag.ts";
import { type EmbeddedWorld, startWorld } from "../../src/sim/world.ts";
import { WEBHOOK_PATH } from "../../src/surfaces/server/deliveries/server.ts";
import { githubPage } from "../support/github-page.ts";
import { short } from "../support/journey.ts";
import { POSTGRES, postgres } from "../support/postgres.ts";
import { type ServeProcess, startServe } from "../support/serve-process.ts";

interface Replica {
  process: ServeProcess;
  /** Where GitHub's deliveries go. */
  hook: string;
  inside: string;
}

let world: EmbeddedWorld | undefined;
let folder = "";
const replicas: Replica[] = [];

afterEach(async () => {
  for (const { process } of replicas.splice(0)) {
    process.child.kill("SIGKILL");
    await process.ended;
  }
  await world?.close();
  world = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function startReplica(around: EmbeddedWorld, databaseUrl: string): Promise<Replica> {
  const own = await mkdtemp(join(folder, "replica-"));
  const config = `controlPlanes:\n  - { name: hub, kubeconfig: kubeconfig, clusterSecrets: true }\nqueue: { kind: postgres, urlFile: url }\nlog: { level: debug }\n`;
  const files = { "stagecoach.yaml": config, kubeconfig: around.kubeconfig, url: `${databaseUrl}\n` };
  for (const [name, text] of Object.entries(files)) await writeFile(join(own, name), text);
  const env = {
    ...{ GHE_HOST: new URL(around.github.url).host, GHE_PROTOCOL: "http", HOST: "127.0.0.1", PORT: "0", INSIDE_PORT: "0" },
    ...{ APP_ID: String(around.github.app.id), PRIVATE_KEY: around.github.app.privateKey, WEBHOOK_SECRET: around.webhookSecret },
  };
  const process = startServe([], { cwd: own, env });
  const [, url = "", inside = ""] = await process.until(/"url":"([^"]+)","insideUrl":"([^"]+)","msg":"ready"/);
  const replica = { process, hook: `${url}${WEBHOOK_PATH}`, inside };
  replicas.push(replica);
  return replica;
}

describe.skipIf(POSTGRES === undefined)("two replicas that share one PostgreSQL", () => {
  test("take turns: what the one that is killed looked after the other takes up, and finishes its run", async () => {
    folder = await mkdtemp(join(tmpdir(), "stagecoach-replicas-"));
    world = await startWorld({ lag: SHORT_LAG, files: short() });
    const { url, name } = await (await postgres()).database();
    const first = await startReplica(world, url);
    const second = await startReplica(world, url);
    // The one behind the load balancer is not the one that looks after the repository.
    world.deliverTo(second.hook);
    const pull = await world.openReleasePull(world.github.actAs("alice"));
    await world.untilComment(pull, "Plan:");
    const deliveries = await (await postgres()).query(
      "select count(*) filter (where done_at is null) as left, count(*) from stagecoach.deliveries",
      name,
    );
    expect(Number(deliveries[0]?.["count"])).toBeGreaterThan(0);
    await world.github.actAs("alice").mergePull(world.repository, pull, "squash");
    await world.untilComment(pull, "**Progressing**");
    first.process.child.kill("SIGKILL");
    await first.process.ended;
    await second.process.until(/"a replica is gone: what it looked after is free"/);
    await second.process.until(/"event":"RUN_(?:THROUGH|ENDED)"/);
    await world.untilComment(pull, "**Succeeded**");
    const subjects = git(world.github.repoDirectory(world.repository), "log", "--format=%s", "main").split("\n");
    const merged = subjects.filter((subject) => subject.startsWith("my-app v1.4.2: "));
    expect([merged.length > 2, new Set(merged).size]).toEqual([true, merged.length]);
    const markers = (await githubPage(world).comments(pull)).map(({ body }) => body.split("\n")[0]);
    expect(new Set(markers).size).toBe(markers.length);
    const left = await (await postgres()).query("select guid from stagecoach.deliveries where done_at is null", name);
    expect(left.length).toBeLessThan(3);
  });
});
