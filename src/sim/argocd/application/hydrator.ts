import { posix } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { compareText } from "../../../core/base/compare-text.ts";
import { defined } from "../../../core/base/defined.ts";
import { kubeTime } from "../../kubernetes/store.ts";
import { type Actor, applicationOf, clusterOf, LEVEL, patchApplication, type Shared } from "../actor.ts";
import { GitProcessError } from "../git/git-process.ts";
import { RepoError } from "../git/repositories.ts";
import type { Application, HydrateOperation, SourceHydrator, SourceHydratorStatus } from "../types.ts";

const HYDRATE = "argocd.argoproj.io/hydrate";
const RETRY_MS = 120_000;

/**
 * The source hydrator: renders what people commit and commits that to a branch, one commit for all Applications of one dry revision and
 * one branch. Each notes what it has compared before anything is hydrated; then the group is, at once. What is written here is the
 * dry files as they stand, not rendered: `manifest.yaml` and `hydrator.metadata` in the path of each Application whose manifests are others.
 * Gives what looks whether an Application's dry source has to be hydrated; to be called whenever it was compared.
 */
export function createHydrator(shared: Shared, actors: () => Iterable<Actor>): (actor: Actor) => void {
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
      together.sort((a, b) => compareText(a.name, b.name));
      shared.scheduler.track(
        hydrate(shared, together).finally(() => {
          busy.delete(key);
          if (asked.has(key)) begin(key);
        }),
      );
    });
  }

  return (actor) => {
    const key = keyOf(actor);
    if (key === undefined) return;
    const noted = needsHydration(shared, actor).then((needed) => {
      if (!needed || shared.scheduler.closed) return;
      asked.add(key);
      begin(key);
    });
    shared.scheduler.track(noted);
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
  for (const one of group) {
    setStatus(shared, one, { currentOperation: { phase: "Hydrating", message: "", startedAt, sourceHydrator: one.hydrator } });
  }
  await shared.scheduler.sleep(shared.lag.hydrate);
  if (shared.scheduler.closed) return;
  let drySHA: string;
  try {
    drySHA = await dryRevision(shared, first.hydrator);
  } catch (error) {
    if (!(error instanceof RepoError)) throw error;
    for (const one of group) fail(shared, one, "", error.message);
    return;
  }
  // argo-cd#25150: only the first is looked at. Where that one has this dry commit, all of them are called hydrated.
  const done = first.app.status?.sourceHydrator?.lastSuccessfulOperation;
  if (done?.drySHA === drySHA) for (const one of group) succeed(shared, one, drySHA, done.hydratedSHA);
  else await commit(shared, group, drySHA);
}

/** The dry revision as of now. Throws RepoError. */
async function dryRevision(shared: Shared, { drySource }: SourceHydrator): Promise<string> {
  return (await shared.repositories.resolve(drySource, drySource.targetRevision, true)).revision;
}

/** Notes which dry revision was compared, before anything of it is hydrated. True where it has to be. */
async function needsHydration(shared: Shared, actor: Actor): Promise<boolean> {
  const app = applicationOf(shared, actor);
  const hydrator = app?.spec.sourceHydrator;
  if (app === undefined || hydrator === undefined) return false;
  const { currentOperation: current, lastComparedDryRevision: last } = app.status?.sourceHydrator ?? {};
  if (current === undefined || app.metadata.annotations?.[HYDRATE] !== undefined) return true;
  if (current.phase === "Hydrating") return false;
  if (!isDeepStrictEqual(current.sourceHydrator, hydrator)) return true;
  if (current.phase === "Failed" && shared.scheduler.now() - Date.parse(current.finishedAt ?? "") >= RETRY_MS) return true;
  const { life } = actor;
  try {
    const drySHA = await dryRevision(shared, hydrator);
    if (drySHA === last) return false;
    setStatus(shared, { actor, life }, { lastComparedDryRevision: drySHA });
    return true;
  } catch (error) {
    if (!(error instanceof RepoError)) throw error;
    return false;
  }
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
  const refusals = new Map(wanted.flatMap((one) => refusalOf(shared, one) ?? []));
  const [refused] = refusals.keys();
  if (refused !== undefined) {
    // A hydration is never partial: where one Application fails, so do all.
    const more = refusals.size === 1 ? "has an error" : `and ${refusals.size - 1} more have errors`;
    for (const one of wanted)
      fail(shared, one, drySHA, refusals.get(qualifiedName(one)) ?? `cannot hydrate because application ${refused} ${more}`);
    return;
  }
  let hydratedSHA: string;
  try {
    hydratedSHA = await push(shared, wanted, drySHA);
  } catch (error) {
    if (!(error instanceof RepoError || error instanceof GitProcessError)) throw error;
    for (const one of wanted) fail(shared, one, drySHA, error.message);
    return;
  }
  for (const one of wanted) succeed(shared, one, drySHA, hydratedSHA);
}

const qualifiedName = ({ app: { metadata } }: Wanted) => `${metadata.namespace}/${metadata.name}`;

function refusalOf(shared: Shared, one: Wanted): [name: string, message: string][] | undefined {
  const cluster = clusterOf(shared, one.app)?.name;
  if (cluster === undefined) return undefined;
  const fault = shared.board.find("hydrate-failed", { cluster, application: one.actor.name, mentions: () => true });
  if (fault === undefined) return undefined;
  return [[qualifiedName(one), fault.message ?? "failed to get manifests: rpc error: code = Unknown desc = permission denied"]];
}

/** One commit with the paths whose manifests are others; where none is, the branch stays where it is. Throws RepoError. */
async function push(shared: Shared, group: readonly Wanted[], drySHA: string): Promise<string> {
  const [first] = group;
  const hydrator = first?.hydrator;
  const git = hydrator && shared.repositories.sourceOf(hydrator.syncSource.repoURL ?? hydrator.drySource.repoURL);
  if (hydrator === undefined || git === undefined) {
    throw new RepoError("rpc error: code = Unknown desc = no write credentials for the repository");
  }
  const branch = branchOf(hydrator);
  await git.fetch();
  const head = await git.resolve(`refs/heads/${branch}`);
  const manifests = group.map((one) => posix.join(one.hydrator.syncSource.path, "manifest.yaml"));
  const before = head === undefined ? new Map<string, string>() : await git.read(head, manifests);
  const metadata = `${JSON.stringify({ repoURL: hydrator.drySource.repoURL, drySha: drySHA }, null, 2)}\n`;
  const files = new Map<string, string>();
  for (const [index, one] of group.entries()) {
    const text = await dryText(shared, one.hydrator, drySHA);
    const file = manifests[index] ?? "";
    if (before.get(file) === text) continue;
    files.set(file, text).set(posix.join(one.hydrator.syncSource.path, "hydrator.metadata"), metadata);
  }
  if (files.size === 0 && head !== undefined) return head;
  files.set("hydrator.metadata", metadata);
  const message = `[Argo CD Bot] hydrate ${drySHA.slice(0, 7)}`;
  return git.commit({ branch, files, message, at: shared.scheduler.now() });
}

function fail(shared: Shared, one: Wanted, drySHA: string, why: string): void {
  const { hydrator, startedAt } = one;
  const finishedAt = kubeTime(shared.scheduler.now());
  const message = `Failed to hydrate: ${why}`;
  const base = { phase: "Failed", message, startedAt, finishedAt, sourceHydrator: hydrator } as const;
  const known = drySHA === "" ? undefined : drySHA;
  setStatus(shared, one, defined({ currentOperation: defined({ ...base, drySHA: known }), lastComparedDryRevision: known }));
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

function setStatus(shared: Shared, { actor, life }: Pick<Wanted, "actor" | "life">, change: SourceHydratorStatus): void {
  if (actor.life !== life || actor.gone) return;
  patchApplication(shared, actor, (app, status) => {
    const { [HYDRATE]: _, ...annotations } = app.metadata.annotations ?? {};
    return {
      status: { ...status, sourceHydrator: { ...status.sourceHydrator, ...change } },
      metadata: app.metadata.annotations?.[HYDRATE] === undefined ? app.metadata : { ...app.metadata, annotations },
    };
  });
}
