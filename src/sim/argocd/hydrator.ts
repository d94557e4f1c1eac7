import { isDeepStrictEqual } from "node:util";
import { kubeTime } from "../kubernetes/store.ts";
import { type Actor, applicationOf, clusterOf, LEVEL, patchApplication, type Shared } from "./actor.ts";
import { GitProcessError } from "./git-process.ts";
import { RepoError } from "./repositories.ts";
import type { Application, HydrateOperation, SourceHydrator, SourceHydratorStatus } from "./types.ts";

const HYDRATE = "argocd.argoproj.io/hydrate";
const RETRY_MS = 120_000;

export interface Hydrator {
  /** Looks whether an Application's dry source has to be hydrated; to be called whenever it was compared. */
  look(actor: Actor): void;
}

/**
 * The source hydrator: renders what people commit and commits that to a branch, one commit for all Applications of one dry
 * revision and one branch. What is written here is the dry files as they stand, not rendered: one `manifest.yaml` an
 * Application, and `hydrator.metadata` with the dry commit. A dry commit that changes nothing of an Application moves only its
 * lastComparedDryRevision.
 */
export function createHydrator(shared: Shared): Hydrator {
  const waiting = new Map<string, Set<Actor>>();
  const busy = new Set<string>();

  function begin(key: string): void {
    if (busy.has(key)) return;
    busy.add(key);
    shared.scheduler.after(shared.lag.hydrate, () => {
      const together = [...(waiting.get(key) ?? [])];
      waiting.delete(key);
      shared.scheduler.track(
        hydrate(shared, together).finally(() => {
          busy.delete(key);
          if (waiting.has(key)) begin(key);
        }),
      );
    });
  }

  return {
    look(actor) {
      const hydrator = applicationOf(shared, actor)?.spec.sourceHydrator;
      if (hydrator === undefined) return;
      const key = JSON.stringify([hydrator.drySource.repoURL, hydrator.drySource.targetRevision, branchOf(hydrator)]);
      waiting.set(key, (waiting.get(key) ?? new Set()).add(actor));
      begin(key);
    },
  };
}

const branchOf = ({ hydrateTo, syncSource }: SourceHydrator) => hydrateTo?.targetBranch ?? syncSource.targetBranch;

interface Wanted {
  actor: Actor;
  hydrator: SourceHydrator;
  startedAt: string;
  life: number;
}

async function hydrate(shared: Shared, actors: readonly Actor[]): Promise<void> {
  const wanted: Wanted[] = [];
  let drySHA: string | undefined;
  for (const actor of actors) {
    const app = applicationOf(shared, actor);
    const hydrator = app?.spec.sourceHydrator;
    if (app === undefined || hydrator === undefined || shared.isDown(actor)) continue;
    const { life } = actor;
    try {
      const seen = await dryRevision(shared, hydrator);
      if (actor.life !== life || !(await needsHydration(shared, actor, app, hydrator, seen))) continue;
      drySHA = seen;
    } catch (error) {
      if (!(error instanceof RepoError)) throw error;
      fail(shared, { actor, hydrator, startedAt: kubeTime(shared.scheduler.now()), life }, "", error.message);
      continue;
    }
    const startedAt = kubeTime(shared.scheduler.now());
    setStatus(shared, actor, { currentOperation: { phase: "Hydrating", message: "", startedAt, sourceHydrator: hydrator } });
    wanted.push({ actor, hydrator, startedAt, life });
  }
  if (drySHA === undefined || wanted.length === 0) return;
  await shared.scheduler.sleep(shared.lag.hydrate);
  if (!shared.scheduler.closed) await commit(shared, wanted, drySHA);
}

/** The dry revision as of now. Throws RepoError. */
async function dryRevision(shared: Shared, { drySource }: SourceHydrator): Promise<string> {
  return (await shared.repositories.resolve(drySource, drySource.targetRevision, true)).revision;
}

async function needsHydration(shared: Shared, actor: Actor, app: Application, hydrator: SourceHydrator, drySHA: string): Promise<boolean> {
  const { currentOperation: current, lastComparedDryRevision: last } = app.status?.sourceHydrator ?? {};
  if (current === undefined || app.metadata.annotations?.[HYDRATE] !== undefined) return true;
  if (!isDeepStrictEqual(current.sourceHydrator, hydrator)) return true;
  if (current.phase === "Failed" && shared.scheduler.now() - Date.parse(current.finishedAt ?? "") < RETRY_MS && current.drySHA === drySHA)
    return false;
  if (current.phase !== "Hydrated") return true;
  if (last === drySHA) return false;
  const before = await dryText(shared, hydrator, current.drySHA ?? "");
  const after = await dryText(shared, hydrator, drySHA);
  if (before !== after) return true;
  setStatus(shared, actor, { lastComparedDryRevision: drySHA });
  return false;
}

/** What the manifests of a dry source are at a commit. */
async function dryText(shared: Shared, { drySource }: SourceHydrator, commit: string): Promise<string> {
  const git = shared.repositories.sourceOf(drySource.repoURL);
  if (git === undefined) return commit;
  const prefix = drySource.path === "." || drySource.path === "" ? "" : `${drySource.path.replace(/\/$/, "")}/`;
  const names = [...(await git.tree(commit))]
    .filter(([name, { type }]) => type === "blob" && name.startsWith(prefix))
    .map(([name]) => name);
  const texts = await git.read(
    commit,
    names.filter((name) => /\.(ya?ml|json)$/.test(name)),
  );
  return [...texts].map(([name, text]) => `# ${name.slice(prefix.length)}\n${text}`).join("---\n");
}

async function commit(shared: Shared, wanted: readonly Wanted[], drySHA: string): Promise<void> {
  const [first] = wanted;
  if (first === undefined) return;
  const { drySource } = first.hydrator;
  const files = new Map([["hydrator.metadata", `${JSON.stringify({ repoURL: drySource.repoURL, drySha: drySHA }, null, 2)}\n`]]);
  const good: Wanted[] = [];
  for (const one of wanted) {
    const refusal = refusalOf(shared, one.actor);
    if (refusal !== undefined) {
      fail(shared, one, drySHA, refusal);
      continue;
    }
    files.set(`${one.hydrator.syncSource.path}/manifest.yaml`, await dryText(shared, one.hydrator, drySHA));
    good.push(one);
  }
  if (good.length === 0) return;
  let hydratedSHA: string;
  try {
    hydratedSHA = await push(shared, first.hydrator, files, drySHA);
  } catch (error) {
    if (!(error instanceof RepoError || error instanceof GitProcessError)) throw error;
    for (const one of good) fail(shared, one, drySHA, error.message);
    return;
  }
  for (const one of good) succeed(shared, one, drySHA, hydratedSHA);
}

function refusalOf(shared: Shared, actor: Actor): string | undefined {
  const app = applicationOf(shared, actor);
  const cluster = app === undefined ? undefined : clusterOf(shared, app)?.name;
  if (cluster === undefined) return undefined;
  const fault = shared.board.find("hydrate-failed", { cluster, application: actor.name, mentions: () => true });
  return fault === undefined ? undefined : (fault.message ?? "rpc error: code = Unknown desc = failed to push: permission denied");
}

async function push(shared: Shared, hydrator: SourceHydrator, files: ReadonlyMap<string, string>, drySHA: string): Promise<string> {
  const git = shared.repositories.sourceOf(hydrator.syncSource.repoURL ?? hydrator.drySource.repoURL);
  if (git?.commit === undefined) throw new RepoError("rpc error: code = Unknown desc = no write credentials for the repository");
  const message = `[Argo CD Bot] hydrate ${drySHA.slice(0, 7)}`;
  return git.commit({ branch: branchOf(hydrator), files, message, at: shared.scheduler.now() });
}

function fail(shared: Shared, { actor, hydrator, startedAt, life }: Wanted, drySHA: string, why: string): void {
  if (actor.life !== life) return;
  const finishedAt = kubeTime(shared.scheduler.now());
  const message = `Failed to hydrate revision "${drySHA}": ${why}`;
  const base = { phase: "Failed", message, startedAt, finishedAt, sourceHydrator: hydrator } as const;
  setStatus(shared, actor, { currentOperation: { ...base, ...(drySHA === "" ? {} : { drySHA }) } });
}

function succeed(shared: Shared, { actor, hydrator, startedAt, life }: Wanted, drySHA: string, hydratedSHA: string): void {
  if (actor.life !== life) return;
  const finishedAt = kubeTime(shared.scheduler.now());
  const base = { message: "", startedAt, finishedAt, drySHA, hydratedSHA, sourceHydrator: hydrator };
  const currentOperation: HydrateOperation = { phase: "Hydrated", ...base };
  const lastSuccessfulOperation = { drySHA, hydratedSHA, sourceHydrator: hydrator };
  setStatus(shared, actor, { currentOperation, lastSuccessfulOperation, lastComparedDryRevision: drySHA });
  // A new commit was pushed: it is compared at once.
  shared.refresh(actor, LEVEL.force);
}

function setStatus(shared: Shared, actor: Actor, change: SourceHydratorStatus): void {
  patchApplication(shared, actor, (app, status) => {
    const { [HYDRATE]: _, ...annotations } = app.metadata.annotations ?? {};
    return {
      status: { ...status, sourceHydrator: { ...status.sourceHydrator, ...change } },
      metadata: app.metadata.annotations?.[HYDRATE] === undefined ? app.metadata : { ...app.metadata, annotations },
    };
  });
}
