import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { openDatabase } from "../../src/adapters/queue/postgres/database.ts";
import { migrate } from "../../src/adapters/queue/postgres/migrate.ts";
import { SHORT_LAG } from "../../src/sim/argocd/application/lag.ts";
import { type EmbeddedWorld, startWorld } from "../../src/sim/world.ts";
import { WEBHOOK_PATH } from "../../src/surfaces/server/deliveries/server.ts";
import { askUntil } from "../support/ask-until.ts";
import { githubPage } from "../support/github-page.ts";
import { short } from "../support/journey.ts";
import { POSTGRES, postgres } from "../support/postgres.ts";
import { type ServeProcess, startServe } from "../support/serve-process.ts";

let world: EmbeddedWorld | undefined;
let running: ServeProcess | undefined;
let folder = "";
afterEach(async () => {
  running?.child.kill("SIGKILL");
  await running?.ended;
  await world?.close();
  await rm(folder, { recursive: true, force: true });
});

/** The database and its two roles, as docs/operations.md makes them. Gives the address for each. */
async function asDocumented(): Promise<(role: "stagecoach_run" | "stagecoach_migrate") => string> {
  const docs = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
  const [, sql = ""] = /```sql[^\n]*\n([\s\S]*?)```/.exec(docs) ?? [];
  const [before = "", after = ""] = sql.split(/^\\c stagecoach stagecoach_migrate$/m);
  const server = await postgres();
  const statements = (text: string) => text.split(";").filter((one) => one.trim() !== "");
  for (const statement of statements(before)) await server.query(statement);
  for (const statement of statements(after)) await server.query(`set role stagecoach_migrate; ${statement}`, "stagecoach");
  return (role) => `postgresql://${role}:none@127.0.0.1:${server.port}/stagecoach`;
}

describe.skipIf(POSTGRES === undefined)("somebody with the server's own way to the database", () => {
  test("reads all of it, forges deliveries, and tries to change the tables, while a run begins", async () => {
    const address = await asDocumented();
    const owner = openDatabase(address("stagecoach_migrate"));
    expect(await migrate(owner)).toBeGreaterThan(0);
    await owner.close();

    folder = await mkdtemp(join(tmpdir(), "stagecoach-database-"));
    world = await startWorld({ lag: SHORT_LAG, files: short() });
    const { github, repository, webhookSecret } = world;
    const config =
      "controlPlanes:\n  - { name: hub, kubeconfig: kubeconfig, clusterSecrets: true }\nqueue: { kind: postgres, urlFile: url }\n";
    const files = { "stagecoach.yaml": config, kubeconfig: world.kubeconfig, url: address("stagecoach_run") };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const credentials = { APP_ID: String(github.app.id), PRIVATE_KEY: github.app.privateKey, WEBHOOK_SECRET: webhookSecret };
    const places = { GHE_HOST: new URL(github.url).host, GHE_PROTOCOL: "http", HOST: "127.0.0.1", PORT: "0", INSIDE_PORT: "0" };
    running = startServe([], { cwd: folder, env: { ...credentials, ...places } });
    const [, url = ""] = await running.until(/"url":"([^"]+)","insideUrl":"([^"]+)","msg":"ready"/);
    world.deliverTo(`${url}${WEBHOOK_PATH}`);

    const mallory = openDatabase(address("stagecoach_run"));
    const tables = await mallory.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'stagecoach' order by 1",
    );
    const { clock } = world;
    const page = githubPage(world);
    const said = (words: string) =>
      askUntil(
        clock,
        words,
        async () => (await page.comments(pull)).map(({ body }) => body),
        (bodies) => bodies.some((body) => body.includes(words)),
      );
    const alice = github.actAs("alice");
    const pull = await world.openReleasePull(alice);
    // It knows what was released before.
    await said("Plan:");
    // What a delivery says there is where to look, and nothing that is done: the run begins and goes on.
    const forged = {
      name: "issue_comment",
      payload: { comment: { body: "/abort", user: { login: "carol" } }, repository: { full_name: repository } },
    };
    for (const event of [forged, "not an event", { merge: true, pull: 2 }, null])
      await mallory.query(
        "insert into stagecoach.deliveries (guid, repository, version, event) values (gen_random_uuid()::text, $1, 1, $2)",
        [repository.toLowerCase(), JSON.stringify(event)],
      );
    await alice.mergePull(repository, pull, "squash");
    await alice.comment(repository, pull, "a word that is nobody's business, and no command");
    await said("**Progressing**");

    const rows = await Promise.all(tables.map(async ({ name }) => JSON.stringify(await mallory.query(`select * from stagecoach.${name}`))));
    expect(rows.join()).toContain(repository);
    expect(rows.join()).not.toMatch(/gh[a-z]_\w{8,}|eyJ[\w-]{8,}\.|PRIVATE KEY|nobody's business/);
    expect(rows.join()).not.toContain(webhookSecret);

    for (const statement of [
      "create table stagecoach.theirs (a int)",
      "drop table stagecoach.deliveries",
      "alter table stagecoach.repositories add column a int",
      "create schema theirs",
      "truncate stagecoach.deliveries",
    ])
      await expect(mallory.query(statement), statement).rejects.toThrow(/permission denied|must be owner/);
    expect((await page.comments(pull)).map(({ body }) => body).join()).not.toMatch(/aborted/i);
    await mallory.close();
  });
});
