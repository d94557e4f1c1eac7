import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKubernetes } from "../../src/argocd/kubernetes/index.ts";
import { WEBHOOK_PATH } from "../../src/bot/server.ts";
import { type Stagecoach, startStagecoach } from "../../src/bot/stagecoach.ts";
import { type Log, silentLog } from "../../src/reconcile/context.ts";
import { isEnded, type Run } from "../../src/rollout/run.ts";
import { type EmbeddedWorld, startWorld, type WorldOptions } from "../../src/sim/world.ts";

export interface Journey {
  world: EmbeddedWorld;
  bot: Stagecoach;
  /** What the loop logged as errors: an invariant violated is one. */
  errors: { fields: object; message: string }[];
  run(): Run | undefined;
  /** The run, as soon as this holds of it. */
  until(what: string, holds: (run: Run) => boolean): Promise<Run>;
  close(): Promise<void>;
}

const PATIENCE_MS = 90_000;

/** The embedded world and the whole bot in this process, talking over loopback. */
export async function startJourney(options: WorldOptions & { rollout?: string; annotationRefresh?: boolean } = {}): Promise<Journey> {
  const world = await startWorld({ speed: 120, ...options });
  const directory = await mkdtemp(join(tmpdir(), "stagecoach-journey-"));
  const errors: Journey["errors"] = [];
  const log: Log = { ...silentLog, error: (fields, message) => void errors.push({ fields, message }) };
  const plane = openKubernetes({
    name: "hub",
    kubeConfig: { kubeconfig: world.kubeconfig },
    clusterSecrets: true,
    annotationRefresh: options.annotationRefresh ?? false,
    clock: world.clock,
    log,
  });
  await plane.ready();
  const { id: appId, privateKey } = world.github.app;
  const app = { appId, privateKey, webhookSecret: world.webhookSecret, baseUrl: world.github.url };
  const bot = await startStagecoach({ app, planes: [plane], directory, clock: world.clock, log, pacing: false });
  world.deliverTo(`${bot.url}${WEBHOOK_PATH}`);
  const run = () => bot.runs().find((known) => known.run.rollout === (options.rollout ?? "my-app"))?.run;
  return {
    world,
    bot,
    errors,
    run,
    until: (what, holds) => untilRun(bot, run, what, holds),
    async close() {
      await bot.close();
      await plane.close();
      await world.close();
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export const ended = (run: Run) => isEnded(run);

function untilRun(bot: Stagecoach, current: () => Run | undefined, what: string, holds: (run: Run) => boolean): Promise<Run> {
  return new Promise((resolve, reject) => {
    const patience = setTimeout(() => {
      off();
      const run = current();
      reject(
        new Error(
          `${what}: not within ${PATIENCE_MS / 1000} s; the run is ${run === undefined ? "not there" : `${run.phase}: ${run.why}`}`,
        ),
      );
    }, PATIENCE_MS);
    const off = bot.onChange(look);
    look();
    function look(): void {
      const run = current();
      if (run === undefined || !holds(run)) return;
      clearTimeout(patience);
      off();
      resolve(run);
    }
  });
}
