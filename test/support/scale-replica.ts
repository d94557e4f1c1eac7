/**
 * One replica of the bench of scale: the door for deliveries and the queue on PostgreSQL are the real ones; a round only waits, as one does for
 * GitHub, once a line on standard input says `slow`: the first look at everything is nothing that is measured. Prints its address, and for each
 * line what it has done so far; after `wake` it looks at everything.
 */
import { generateKeyPairSync } from "node:crypto";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "../../src/adapters/queue/postgres/database.ts";
import { prepareSchema } from "../../src/adapters/queue/postgres/migrate.ts";
import { PostgresQueue } from "../../src/adapters/queue/postgres/queue.ts";
import { silentLog } from "../../src/engine/round/context.ts";
import { deliveryOf } from "../../src/surfaces/server/deliveries/on-event.ts";
import { startBotServer, WEBHOOK_PATH } from "../../src/surfaces/server/deliveries/server.ts";
import { wallClock } from "../../src/surfaces/server/wall-clock.ts";
import { nameOf, type ScaleReport, type ScaleWorld } from "./scale-world.ts";

const world = JSON.parse(process.env["STAGECOACH_SCALE_WORLD"] ?? "{}") as ScaleWorld;
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const database = openDatabase(world.url);
await prepareSchema(database);
const names = Array.from({ length: world.installations * world.repos }, (_, n) => nameOf(n, world.installations));
let [rounds, heard, isSlow] = [0, 0, false];
const queue = new PostgresQueue({
  ...{ database, home: world.home, version: "0.0.0", log: silentLog, clock: wallClock() },
  async handler() {
    for (let call = 0; isSlow && call < world.calls; call++) await sleep(world.callMs);
    rounds += 1;
  },
  onDelivery({ repository }) {
    heard += 1;
    if (repository !== undefined) queue.wake({ repository, rollout: null });
    return repository !== undefined;
  },
  onLeft: async () => undefined,
  onLost: () => undefined,
});
queue.share(names);
await queue.start();
const server = await startBotServer({
  app: {
    ...{ appId: 1, webhookSecret: world.secret, baseUrl: "http://127.0.0.1:1" },
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  },
  log: silentLog,
  onEvent: (event) => queue.keep(deliveryOf(event)),
  state: () => "ready",
});
process.stdout.write(`${server.url}${WEBHOOK_PATH}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  isSlow ||= line === "slow";
  const own = names.filter((name) => queue.owns(name));
  if (line === "wake") {
    for (const repository of own) for (let n = 0; n < world.rollouts; n++) queue.wake({ repository, rollout: `app-${n}` });
  }
  const { user, system } = process.cpuUsage();
  const cpuMs = (user + system) / 1000;
  const depth = queue.depth();
  const due = depth.due + depth.running;
  const report: ScaleReport = { owned: own.length, rounds, due, heard, cpuMs, memory: process.memoryUsage().rss / 1024 / 1024 };
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
process.exit();
