import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { POSTGRES, postgres, startPostgres } from "../../../../test/support/postgres.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { createAuthority } from "../../../sim/kubernetes/certificates.ts";
import { openMachines } from "../testing/machines.ts";
import { closeAll, databaseAt, freshDatabase, replica } from "../testing/open-queue.ts";
import { askSchema, LOCK, migrate, prepareSchema, SCHEMA_VERSION } from "./migrate.ts";
import { reasonOf } from "./reason.ts";

const whyOf = (work: Promise<unknown>) =>
  work.then(
    () => "it went well",
    (error: unknown) => sentenceOf(reasonOf(error)),
  );

async function emptyDatabase(): Promise<{ url: string; name: string; as(role: string): string }> {
  const { url, name } = await (await postgres()).database();
  return { url, name, as: (role) => url.replace("admin@", `${role}@`) };
}

const idle = {
  ...{ clock: { now: Date.now, after: () => () => undefined }, handler: async () => undefined },
  ...{ onDelivery: () => false, onLeft: async () => undefined, onLost: () => undefined },
};

describe.skipIf(POSTGRES === undefined)("the tables that replicas share", () => {
  afterAll(closeAll);

  test("are made once, though several start together and each has found none", async () => {
    const { url } = await emptyDatabase();
    const holder = databaseAt(url);
    const waiting = async () =>
      Number((await holder.query<{ n: string }>("select count(*) as n from pg_locks where locktype = 'advisory' and not granted"))[0]?.n);
    const starts = await holder.transaction(async (session) => {
      await session.query("select pg_advisory_xact_lock($1)", [LOCK]);
      const all = [1, 2, 3, 4].map(() => prepareSchema(databaseAt(url)));
      while ((await waiting()) < all.length) await new Promise(setImmediate);
      return all;
    });
    await Promise.all(starts);
    const versions = await holder.query("select version from stagecoach.schema");
    expect(versions).toHaveLength(SCHEMA_VERSION);
  });

  test("are made by one role, and worked with by another that has the rights of the docs and no others", async () => {
    const server = await postgres();
    const { name, as } = await emptyDatabase();
    const page = readFileSync(new URL("../../../../docs/operations.md", import.meta.url), "utf8");
    const sql = /```sql\n(create role[\s\S]*?)```/.exec(page)?.[1] ?? "";
    const [before = "", after = ""] = sql.split(/create database.*\n\\c.*\n/);
    await server.query(before);
    await server.query(`alter database ${name} owner to stagecoach_migrate`);
    const works = databaseAt(as("stagecoach_run"));
    expect(await whyOf(prepareSchema(works))).toMatch(/has no tables of Stagecoach's.*run stagecoach migrate/);
    expect(await whyOf(askSchema(works))).toMatch(/has no tables of Stagecoach's.*run stagecoach migrate/);
    const makes = databaseAt(as("stagecoach_migrate"));
    await askSchema(makes);
    for (const statement of after.split(";").filter((one) => one.trim() !== "")) await makes.query(statement);
    expect(await whyOf(prepareSchema(works))).toMatch(/run stagecoach migrate/);
    await migrate(makes);
    await prepareSchema(works);
    await askSchema(works);
    // Steps need no right to make schemas once there is ours.
    await server.query(`alter database ${name} owner to admin`);
    const taken = await makes.query(
      "delete from stagecoach.schema where version = (select max(version) from stagecoach.schema) returning *",
    );
    expect(await whyOf(askSchema(works))).toMatch(/run stagecoach migrate/);
    await askSchema(makes);
    await makes.query("insert into stagecoach.schema select * from json_populate_recordset(null::stagecoach.schema, $1)", [
      JSON.stringify(taken),
    ]);
    const queue = replica(works, idle);
    queue.share(["o/0"]);
    await queue.start();
    expect(await queue.keep({ guid: "a", repository: "o/0", event: {} })).toBe(true);
    expect(await whyOf(works.query("drop table stagecoach.deliveries"))).toMatch(/PostgreSQL does not allow it: must be owner/);
    expect(await whyOf(works.query("create table stagecoach.mine (id int)"))).toMatch(/does not allow it/);
  });

  test("that a newer version left so that this one can use them are used; else it says so, also while it runs, and ends", async () => {
    const { url, database } = await freshDatabase();
    const newer = (oldest: number) => database.query("insert into stagecoach.schema (version, oldest) values ($1, $2)", [99, oldest]);
    await newer(SCHEMA_VERSION);
    await prepareSchema(database);
    const outdated = Promise.withResolvers<Error>();
    const { start, clock } = openMachines(url);
    await start(["o/0"], { onOutdated: outdated.resolve });
    await newer(99);
    clock.advance(1000);
    expect(sentenceOf(reasonOf(await outdated.promise))).toMatch(/at step 99, made by a newer version.*start the newer version/);
    expect(await whyOf(prepareSchema(database))).toMatch(/newer version/);
    expect(await whyOf(migrate(database))).toMatch(/newer version/);
  });

  test("where they are older than this version wants, and the role may not change them, that is said", async () => {
    const server = await postgres();
    const { database, name, url } = await freshDatabase();
    await database.query("update stagecoach.schema set version = 0, oldest = 0");
    await server.query(`do $$ begin create role reader login; exception when duplicate_object then null; end $$`);
    await server.query("grant usage on schema stagecoach to reader; grant select on all tables in schema stagecoach to reader", name);
    for (const look of [prepareSchema, askSchema])
      expect(await whyOf(look(databaseAt(url.replace("admin@", "reader@"))))).toMatch(
        new RegExp(`at step 0, this version needs ${SCHEMA_VERSION}.*stagecoach migrate`),
      );
    await askSchema(database);
  });

  test("are reached by TLS alone where that is asked for: by whom its CA knows, under the name on its certificate", async () => {
    const authority = createAuthority();
    const server = await startPostgres([], { tls: authority.issue(["127.0.0.1"]) });
    const folder = mkdtempSync(join(tmpdir(), "ca-"));
    try {
      const ca = join(folder, "ca.pem");
      writeFileSync(ca, authority.ca);
      const url = `${(await server.database()).url}?sslmode=verify-full`;
      const database = databaseAt(`${url}&sslrootcert=${ca}`);
      await prepareSchema(database);
      const queue = replica(database, idle);
      queue.share(["o/0"]);
      await queue.start();
      const used = await database.query(
        "select ssl, count(*)::int as n from pg_stat_ssl join pg_stat_activity using (pid) group by ssl, application_name having application_name = 'stagecoach'",
      );
      expect(used).toEqual([{ ssl: true, n: expect.any(Number) }]);
      await queue.leave();
      const refused = /is not who it should be: .*sslrootcert in queue.urlFile/;
      expect(await whyOf(prepareSchema(databaseAt(url)))).toMatch(refused);
      expect(await whyOf(prepareSchema(databaseAt(`${url.replace("127.0.0.1", "localhost")}&sslrootcert=${ca}`)))).toMatch(refused);
      const plain = await emptyDatabase();
      expect(await whyOf(prepareSchema(databaseAt(`${plain.url}?sslmode=verify-full`)))).toMatch(/does not support SSL/);
      expect(await whyOf(replica(databaseAt(`${url}&sslrootcert=${folder}/gone.pem`), idle).start())).toMatch(/ENOENT/);
    } finally {
      server.remove();
      rmSync(folder, { recursive: true });
    }
  });

  test("say why they cannot be used, with what to do: no server, no such database, a standby, no room", async () => {
    const server = await postgres();
    const { database, name, url } = await freshDatabase();
    expect(await whyOf(prepareSchema(databaseAt("postgresql://admin@127.0.0.1:1/x")))).toMatch(
      /does not answer: connect ECONNREFUSED 127.0.0.1:1;/,
    );
    expect(await whyOf(prepareSchema(databaseAt(url.replace(name, "nowhere"))))).toMatch(
      /lets Stagecoach in under no such .*"nowhere" does not exist/,
    );
    await server.query(`alter database ${name} set default_transaction_read_only = on`);
    const standby = databaseAt(url);
    await prepareSchema(standby);
    expect(await whyOf(replica(standby, idle).start())).toMatch(/takes no writes.*name the primary/);
    await server.query(`alter database ${name} reset default_transaction_read_only`);
    await database.query(`create function no_room() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`);
    await database.query("create trigger no_room before insert on stagecoach.deliveries for each row execute function no_room()");
    const queue = replica(databaseAt(url), idle);
    queue.share(["o/0"]);
    await queue.start();
    const refused = Promise.resolve(queue.keep({ guid: "a", repository: "o/0", event: {} }));
    await expect(refused).rejects.toMatchObject({ status: 503 });
    expect(await whyOf(refused)).toMatch(/has no room: could not extend file; give it more disk/);
    await database.query("drop trigger no_room on stagecoach.deliveries");
    expect(await queue.keep({ guid: "a", repository: "o/0", event: {} })).toBe(true);
  });
});
