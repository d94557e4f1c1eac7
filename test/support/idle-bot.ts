/**
 * The bot as a process of its own that only stands by, for the bench of what that costs. Told by one line of JSON in
 * STAGECOACH_IDLE_WORLD where the embedded world is; says `ready URL`; on a line on standard input it looks at everything
 * once, as the resync does, and says `resynced`.
 */
import { createInterface } from "node:readline";
import { openKubernetes } from "../../src/adapters/argocd/kubernetes/index.ts";
import { defined } from "../../src/core/base/defined.ts";
import { type Log, silentLog } from "../../src/engine/round/context.ts";
import { fastClock } from "../../src/sim/clock.ts";
import { startStagecoach } from "../../src/surfaces/server/stagecoach.ts";

export interface IdleWorld {
  app: { appId: number; privateKey: string; webhookSecret: string; baseUrl: string };
  kubeconfig: string;
  directory: string;
  speed: number;
  /** Where it hears of events. */
  port?: number;
  /** Whether its writes are a second apart. */
  pacing?: boolean;
}

const world = JSON.parse(process.env["STAGECOACH_IDLE_WORLD"] ?? "{}") as IdleWorld;
const clock = fastClock(world.speed);
const log: Log = { ...silentLog, error: (fields, message) => void process.stderr.write(`${message} ${JSON.stringify(fields)}\n`) };
const plane = openKubernetes({
  name: "hub",
  kubeConfig: { kubeconfig: world.kubeconfig },
  clusterSecrets: false,
  annotationRefresh: false,
  clock,
  log,
});
await plane.ready();
const bot = await startStagecoach({
  app: world.app,
  planes: [plane],
  directory: world.directory,
  ...defined({ port: world.port }),
  clock,
  log,
  pacing: world.pacing ?? false,
  // Never by itself: the bench says when.
  resyncMs: 2 ** 40,
});
process.stdout.write(`ready ${bot.repositories().length}\n`);
await bot.idle();
process.stdout.write("idle\n");
for await (const _line of createInterface({ input: process.stdin })) {
  await bot.resync();
  await bot.idle();
  process.stdout.write("resynced\n");
}
await bot.close();
await plane.close();
