import { isDeepStrictEqual } from "node:util";
import { defined } from "../../../core/base/defined.ts";
import { kubeTime } from "../../kubernetes/store.ts";
import { type Actor, applicationOf, clusterOf, LEVEL, patchApplication, type Shared } from "../actor.ts";
import { GitProcessError } from "../git/git-process.ts";
import { RepoError } from "../git/repositories.ts";
import type { Application, HydrateOperation, SourceHydrator, SourceHydratorStatus } from "../types.ts";

const HYDRATE = "argocd.argoproj.io/hydrate";
const RETRY_MS = 120_000;

interface Hydrator {
  /** Looks whether an Application's dry source has to be hydrated; to be called whenever it was compared. */
  look(actor: Actor): void;
}

/**
 * The source hydrator: renders what people commit and commits that to a branch, one commit for all Applications of one dry
 * revision and one branch: where one of them changes, all of them are hydrated. What is written here is the dry files as they
 * stand, not rendered: one `manifest.yaml` an Application, and `hydrator.metadata` with the dry commit. A dry commit that changes
 * none of them moves only their lastComparedDryRevision.
 */
export function createHydrator(shared: Shared, actors: () => Iterable<Actor>): Hydrator {
  const asked = new Set<string>();
  const busy = new Set<string>();

  function keyOf(actor: Actor): string | undefined {
    const hydrator = applicationOf(shared, actor)?.spec.sourceHydrator;
    return hydrator && JSON.stringify([hydrator.drySource.repoURL, hydrator.drySource.targetRevision, branchOf(hydrator)]);
  }

  function begin(key: string): void {
    if (busy.has(key)) return;
    busy.add(key);
    shared.scheduler.after(shared.lag.hydrate, () => {
      asked.delete(key);
      const together = [...actors()].filter((actor) => keyOf(actor) === key && !shared.isDown(actor));
      shared.scheduler.track(
        hydrate(shared, together).finally(() => {
          busy.delete(key);
          if (asked.has(key)) begin(key);
        }),
      );
    });
  }

  return {
    look(actor) {
      const key = keyOf(actor);
      if (key === undefined) return;
      asked.add(key);
      begin(key);
    },
  };
}

const branchOf = ({ hydrateTo, syncSource }: SourceHydrator) => hydrateTo?.targetBranch ?? syncSource.targetBranch;

interface Wanted {
  actor: Actor;
  app: Application;
  hydrator: SourceHydrator;
  startedAt: string;
  life: number;
}

async function hydrate(shared: Shared, actors: readonly Actor[]): Promise<void> {
  const startedAt = kubeTime(shared.scheduler.now());
  const group: Wanted[] = [];
  for (const actor of actors) {
    const app = applicationOf(shared, actor);
    const hydrator = app?.spec.sourceHydrator;
    if (app !== undefined && hydrator !== undefined) group.push({ actor, app, hydrator, startedAt, life: actor.life });
  }
  const [first] = group;
  if (first === undefined) return;
  let drySHA: string;
  try {
    drySHA = await dryRevision(shared, first.hydrator);
    if (!(await anyNeeds(shared, group, drySHA))) return;
  } catch (error) {
    if (!(error instanceof RepoError)) throw error;
    for (const one of group) fail(shared, one, "", error.message);
    return;
  }
  for (const one of group) {
    setStatus(shared, one, { currentOperation: { phase: "Hydrating", message: "", startedAt, sourceHydrator: one.hydrator } });
  }
  await shared.scheduler.sleep(shared.lag.hydrate);
  if (!shared.scheduler.closed) await commit(shared, group, drySHA);
}

/** Whether one of the group has to be hydrated; where none has, they have compared the dry revision all the same. */
async function anyNeeds(shared: Shared, group: readonly Wanted[], drySHA: string): Promise<boolean> {
  for (const one of group) if (await needsHydration(shared, one, drySHA)) return true;
  for (const one of group) {
    if (one.app.status?.sourceHydrator?.currentOperation?.phase === "Hydrated") setStatus(shared, one, { lastComparedDryRevision: drySHA });
  }
  return false;
}

/** The dry revision as of now. Throws RepoError. */
async function dryRevision(shared: Shared, { drySource }: SourceHydrator): Promise<string> {
  return (await shared.repositories.resolve(drySource, drySource.targetRevision, true)).revision;
}

async function needsHydration(shared: Shared, { app, hydrator }: Wanted, drySHA: string): Promise<boolean> {
  const { currentOperation: current, lastComparedDryRevision: last } = app.status?.sourceHydrator ?? {};
  if (current === undefined || app.metadata.annotations?.[HYDRATE] !== undefined) return true;
  if (!isDeepStrictEqual(current.sourceHydrator, hydrator)) return true;
  const sinceFailed = shared.scheduler.now() - Date.parse(current.finishedAt ?? "");
  if (current.phase === "Failed" && current.drySHA === drySHA) return sinceFailed >= RETRY_MS;
  if (current.phase !== "Hydrated") return true;
  if (last === drySHA) return false;
  return (await dryText(shared, hydrator, current.drySHA ?? "")) !== (await dryText(shared, hydrator, drySHA));
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
    const refusal = refusalOf(shared, one);
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

function refusalOf(shared: Shared, { app, actor }: Wanted): string | undefined {
  const cluster = clusterOf(shared, app)?.name;
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

function fail(shared: Shared, one: Wanted, drySHA: string, why: string): void {
  const { hydrator, startedAt } = one;
  const finishedAt = kubeTime(shared.scheduler.now());
  const message = `Failed to hydrate revision "${drySHA}": ${why}`;
  const base = { phase: "Failed", message, startedAt, finishedAt, sourceHydrator: hydrator } as const;
  setStatus(shared, one, { currentOperation: defined({ ...base, drySHA: drySHA === "" ? undefined : drySHA }) });
}

function succeed(shared: Shared, one: Wanted, drySHA: string, hydratedSHA: string): void {
  const { hydrator, startedAt, actor } = one;
  const finishedAt = kubeTime(shared.scheduler.now());
  const base = { message: "", startedAt, finishedAt, drySHA, hydratedSHA, sourceHydrator: hydrator };
  const currentOperation: HydrateOperation = { phase: "Hydrated", ...base };
  const lastSuccessfulOperation = { drySHA, hydratedSHA, sourceHydrator: hydrator };
  setStatus(shared, one, { currentOperation, lastSuccessfulOperation, lastComparedDryRevision: drySHA });
  // A new commit was pushed: it is compared at once.
  shared.refresh(actor, LEVEL.force);
}

function setStatus(shared: Shared, { actor, life }: Wanted, change: SourceHydratorStatus): void {
  if (actor.life !== life || actor.gone) return;
  patchApplication(shared, actor, (app, status) => {
    const { [HYDRATE]: _, ...annotations } = app.metadata.annotations ?? {};
    return {
      status: { ...status, sourceHydrator: { ...status.sourceHydrator, ...change } },
      metadata: app.metadata.annotations?.[HYDRATE] === undefined ? app.metadata : { ...app.metadata, annotations },
    };
  });
}
