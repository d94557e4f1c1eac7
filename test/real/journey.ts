import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeConfig, type KubernetesObject } from "@kubernetes/client-node";
import { openApiPlane } from "../../src/adapters/argocd/api/index.ts";
import { openKubernetes } from "../../src/adapters/argocd/kubernetes/index.ts";
import type { ControlPlane } from "../../src/adapters/argocd/port.ts";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import type { Clock } from "../../src/core/base/time.ts";
import { sentenceOf } from "../../src/core/report/reasons/say.ts";
import { isEnded, type Run } from "../../src/core/run/state/run.ts";
import { type Log, silentLog } from "../../src/engine/round/context.ts";
import { fastClock } from "../../src/sim/clock.ts";
import { type GitHubSim, startGitHub } from "../../src/sim/github/start.ts";
import { WEBHOOK_PATH } from "../../src/surfaces/server/deliveries/server.ts";
import { startStagecoach } from "../../src/surfaces/server/stagecoach.ts";
import { applicationOf, FIRST, HUB, NEXT, RELEASE_FILE, type RealNames, SET, workload } from "./files.ts";
import { kube } from "./kube.ts";
import { type AtMerge, lastSync, lookBehind, type Synced, saidOn, until } from "./looks.ts";
import { argoObjects, LEFTOVERS } from "./objects.ts";
import { cleanUp, setUp, syncByHand } from "./set-up.ts";

interface RealAccess {
  /** The text of a kubeconfig. */
  kubeconfig: string;
  /** Argo CD's own API, and an account that may get everything and sync. */
  api?: { url: string; token: string; ca?: string };
}

interface RealOptions {
  /** Where the embedded GitHub listens, and what Argo CD knows it by. */
  github: { host?: string; port?: number; publicUrl?: string };
  /** Once the config repo can be fetched at this address. */
  access(repoURL: string): Promise<RealAccess>;
  /** Through Argo CD's API: environments on a hub, the last of them synced by the bot, and `/rollback` at the end. */
  overApi?: boolean;
  /** Where Argo CD is. */
  argocd: string;
  clusters: number;
  /** Whether the bot may set the refresh annotation of Applications. */
  refresh: boolean;
  settle: string;
  image?: string;
  /** How long each step may take, in milliseconds. */
  patience: number;
}

interface RealOutcome {
  run: Run;
  /** The run that took it back. */
  back?: Run;
  /** The newest sync of the Application that is not synced by itself, after the release and after it was taken back. */
  byHand: Synced[];
  /** The commits that the two versions' tags mean. */
  commits: { first: string; next: string };
  /** For each batch that was merged: what the Applications of those before it looked like in that moment, read anew. */
  atMerge: AtMerge[];
  errors: string[];
  /** Objects of this try that are left at the end. */
  left: string[];
}

const ASKED_AGAIN_MS = 3_000;
const REFRESH = { "argocd.argoproj.io/refresh": "normal" };

/** A whole rollout: the bot and the forge are here, Kubernetes and Argo CD wherever the kubeconfig leads. Leaves nothing behind. */
export async function realJourney(options: RealOptions): Promise<RealOutcome> {
  const id = randomBytes(3).toString("hex");
  const { image } = options;
  const layout = options.overApi === true ? HUB : SET;
  const clusters = Array.from({ length: options.clusters }, (_, i) => `stagecoach-real-${id}-${i}`);
  const names: RealNames = { id, argocd: options.argocd, clusters, settle: options.settle, ...(image === undefined ? {} : { image }) };
  const clock = fastClock();
  const errors: string[] = [];
  const warnings: string[] = [];
  const into = (lines: string[]) => (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { ...silentLog, warn: into(warnings), error: into(errors) };
  const directory = await mkdtemp(join(tmpdir(), "stagecoach-real-"));
  const pushed = new Set<() => void>();
  const github = await startGitHub({
    clock,
    ...options.github,
    onDelivery: ({ event }) => {
      if (event === "push") for (const listener of pushed) listener();
    },
  });
  const ends: (() => Promise<void>)[] = [() => rm(directory, { recursive: true, force: true, maxRetries: 5 }), () => github.close()];
  const outcome: RealOutcome = {
    run: undefined as unknown as Run,
    byHand: [],
    commits: { first: "", next: "" },
    atMerge: [],
    errors,
    left: [],
  };
  try {
    const repoURL = `${github.gitUrl}/acme/real-${id}.git`;
    const { repository } = await github.createRepo({ owner: "acme", name: `real-${id}`, files: layout.files(names, repoURL) });
    github.collaborator(repository, "alice", "write");
    github.collaborator(repository, "mary", "maintain");
    github.reserveBranches(repository);
    git(github.repoDirectory(repository), "tag", FIRST, "main");
    const access = await options.access(repoURL);
    const config = new KubeConfig();
    config.loadFromString(access.kubeconfig);
    const api = kube(config);
    const made: KubernetesObject[] = [];
    ends.push(async () => void outcome.left.push(...(await cleanUp(api, names, made, options.patience))));
    await setUp(api, names, argoObjects(names, repoURL, layout), made, options.patience);
    const plane = openPlane(options, access, names, { clock, log });
    ends.push(() => plane.close());
    await plane.ready();
    // Nobody has told this Argo CD of a webhook: its parent is asked to look whenever something was pushed.
    const [parent] = LEFTOVERS(names);
    let asking: Promise<unknown> = Promise.resolve();
    const ask = () => {
      if (parent !== undefined) asking = api.annotate(parent, REFRESH).catch((error: unknown) => errors.push(String(error)));
    };
    pushed.add(ask);
    // Argo CD takes the wish away at the end of a look: one that came in the middle of it is lost.
    const again = setInterval(ask, ASKED_AGAIN_MS);
    ends.push(async () => {
      clearInterval(again);
      pushed.delete(ask);
      // What is deleted next is asked for no more.
      await asking;
    });
    const byHand = layout.byHand?.(names);
    if (byHand !== undefined) await syncByHand(api, names, byHand, options.patience);
    await untilAt(plane, names, FIRST, options.patience);
    const app = { appId: github.app.id, privateKey: github.app.privateKey, webhookSecret: "real-journey-secret", baseUrl: github.url };
    const bot = await startStagecoach({ app, planes: [plane], directory, clock, log, pacing: false, signing: { kind: "github" } });
    ends.push(() => bot.close());
    github.setWebhook({ url: `${bot.url}${WEBHOOK_PATH}`, secret: "real-journey-secret" });
    const lookAtMerge = (run: Run) => lookBehind(api, names, run, outcome);
    const ended = untilEnded(bot, options.patience, lookAtMerge);
    // Nobody waits for it any more where the rollout is not adopted.
    ended.catch(() => undefined);
    // The bot is ready after a first round, well or not: what is merged before it has adopted the rollout starts no run.
    const adopted = async () => git(github.repoDirectory(repository), "for-each-ref", "refs/heads/stagecoach/journal") || undefined;
    await until("the rollout is adopted", options.patience, adopted).catch((error: unknown) => {
      throw new Error([String(error), ...errors, ...warnings].join("\n"));
    });
    const pull = await release(github, repository, names);
    const explain = async (error: unknown): Promise<never> => {
      throw new Error(`${String(error)}; its release PR says: ${await saidOn(github, repository, pull)}`);
    };
    outcome.run = await ended.catch(explain);
    const commitOf = (tag: string) => git(github.repoDirectory(repository), "rev-parse", `${tag}^{commit}`);
    outcome.commits = { first: commitOf(FIRST), next: commitOf(NEXT) };
    if (byHand === undefined) return outcome;
    outcome.byHand.push(await lastSync(api, names, byHand));
    const isBack = untilEnded(bot, options.patience, lookAtMerge, "Rollback");
    github.actAs("mary").comment(repository, pull, "/rollback");
    outcome.back = await isBack.catch(explain);
    outcome.byHand.push(await lastSync(api, names, byHand));
    return outcome;
  } finally {
    // One that fails keeps none of the others from being done, and does not hide what went wrong before.
    for (const end of ends.reverse()) await end().catch((error: unknown) => void errors.push(`while cleaning up: ${String(error)}`));
    if (errors.length > 0) console.error(`${errors.join("\n")}\nwhat may be left carries stagecoach.dev/try=${id}: test/real/README.md`);
  }
}

function openPlane(
  { overApi, refresh }: RealOptions,
  { kubeconfig, api }: RealAccess,
  names: RealNames,
  its: { clock: Clock; log: Log },
): ControlPlane {
  if (overApi !== true) {
    const kubernetes = { argocdNamespace: names.argocd, clusterSecrets: true, annotationRefresh: refresh };
    return openKubernetes({ name: "real", kubeConfig: { kubeconfig }, ...kubernetes, ...its });
  }
  if (api === undefined) throw new Error("there is no address of Argo CD's API: see test/real/README.md");
  return openApiPlane({ name: "real", ...api, allowSync: true, ...its });
}

async function release(github: GitHubSim, repository: string, names: RealNames): Promise<number> {
  const alice = github.actAs("alice");
  const built = await alice.push(repository, { branch: "main", files: workload(names, NEXT), message: `app ${NEXT}` });
  git(github.repoDirectory(repository), "tag", NEXT, built);
  const branch = `release-${NEXT}`;
  await alice.push(repository, { branch, files: { [RELEASE_FILE]: `version: ${NEXT}\n` }, message: `Release ${NEXT}` });
  const pull = await alice.openPull(repository, { head: branch, title: `Release ${NEXT}` });
  await alice.mergePull(repository, pull, "squash");
  return pull;
}

/** Resolves once every Application is at a version, and green. */
function untilAt(plane: ControlPlane, names: RealNames, version: string, patience: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => finish(new Error(`not every Application is live at ${version}: ${states().join("; ")}`)), patience);
    const off = plane.onChange(look);
    look();
    function states(): string[] {
      return names.clusters.map((cluster) => {
        const { spec, status } = plane.application(names.argocd, applicationOf(names, cluster)) ?? {};
        return `${cluster}: ${spec?.sources[0]?.targetRevision} ${status?.sync.status} ${status?.health.status}`;
      });
    }
    function look(): void {
      if (states().every((state) => state.endsWith(`: ${version} Synced Healthy`))) finish();
    }
    function finish(error?: Error): void {
      clearTimeout(timer);
      off();
      if (error === undefined) resolve();
      else reject(error);
    }
  });
}

interface Bot {
  runs(): { run: Run }[];
  onChange(listener: () => void): () => void;
}

function untilEnded(bot: Bot, patience: number, onMerge: (run: Run) => Promise<void>, kind?: Run["kind"]): Promise<Run> {
  return new Promise((resolve, reject) => {
    const looks: Promise<void>[] = [];
    let merged = 0;
    const timer = setTimeout(() => {
      const run = bot.runs()[0]?.run;
      finish(
        new Error(
          `the run has not ended: ${run?.phase} ${sentenceOf(run?.why, run)} ${run?.batches.map((batch) => sentenceOf(batch.why, run)).join("; ")}`,
        ),
      );
    }, patience);
    const off = bot.onChange(() => {
      const run = bot.runs()[0]?.run;
      if (run === undefined || run.kind !== kind) return;
      const now = run.batches.filter((batch) => batch.merged !== undefined).length;
      if (now > merged) looks.push(onMerge(run));
      merged = now;
      if (isEnded(run)) void Promise.all(looks).then(() => finish(undefined, run), finish);
    });
    function finish(error: Error | undefined, run?: Run): void {
      clearTimeout(timer);
      off();
      if (run === undefined) reject(error);
      else resolve(run);
    }
  });
}
