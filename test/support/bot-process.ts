/**
 * The bot as a process of its own, for tests that kill it: told where the embedded world is by one line of JSON in
 * STAGECOACH_TEST_WORLD, it loads its code, waits for a line on standard input (so that one can stand by while another
 * still runs), says `ready` on standard output and runs until it is killed.
 */
import { once } from "node:events";
import { flushCompileCache } from "node:module";
import { openKubernetes } from "../../src/adapters/argocd/kubernetes/index.ts";
import { type Log, silentLog } from "../../src/engine/round/context.ts";
import { fastClock } from "../../src/sim/clock.ts";
import { startStagecoach } from "../../src/surfaces/server/stagecoach.ts";

export interface TestWorld {
  app: { appId: number; privateKey: string; webhookSecret: string; baseUrl: string };
  kubeconfig: string;
  directory: string;
  port: number;
  speed: number;
  /** The world's time at a moment of the wall's, both epoch milliseconds. */
  clock: { world: number; wall: number };
}

const world = JSON.parse(process.env["STAGECOACH_TEST_WORLD"] ?? "{}") as TestWorld;
// It will be killed, which leaves no time for that.
flushCompileCache();
await once(process.stdin, "data");
const clock = fastClock(world.speed, world.clock.world + (Date.now() - world.clock.wall) * world.speed);
const log: Log = { ...silentLog, error: (fields, message) => void process.stderr.write(`error ${message} ${JSON.stringify(fields)}\n`) };
const plane = openKubernetes({
  name: "hub",
  kubeConfig: { kubeconfig: world.kubeconfig },
  clusterSecrets: true,
  // Nobody tells this Argo CD of pushes: its own look comes every few minutes.
  annotationRefresh: true,
  clock,
  log,
});
await plane.ready();
await startStagecoach({
  app: world.app,
  planes: [plane],
  directory: world.directory,
  clock,
  log,
  port: world.port,
  pacing: false,
  resyncMs: 60_000,
});
process.stdout.write("ready\n");
