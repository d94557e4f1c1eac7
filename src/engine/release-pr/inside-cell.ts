/**
 * The judgement of a pull request as it is made inside of a cell: the same functions, over ports that ask what stands outside.
 *
 * What was read of a repository's commits is kept for its next pull request, as long as the cell's process lives.
 */
import type { ControlPlane } from "../../adapters/argocd/port.ts";
import type { Ask } from "../../adapters/cell/port.ts";
import type { Forge } from "../../adapters/forge/port.ts";
import type { Mirror } from "../../adapters/git/port.ts";
import type { ApplicationView } from "../../core/argocd/views.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import type { Clock } from "../../core/base/time.ts";
import { type Commits, openCommits } from "../config-repo/commits.ts";
import { type DurationsOf, openDurations } from "../config-repo/history-durations.ts";
import { readProject } from "../config-repo/project.ts";
import { openReleases, type Releases } from "../config-repo/releases.ts";
import type { RevisionsNow } from "../config-repo/revisions.ts";
import { openPlanner } from "../resolve/plan-now.ts";
import type { Rules } from "../round/branch-rules.ts";
import type { RepoContext } from "../round/context.ts";
import { openPullJudge } from "./judge-pull.ts";
import type { JudgedPull, PlanBase, Verdict } from "./types.ts";

/** What is told of a pull request and its base; all else is asked. */
export interface JudgeInput {
  repository: string;
  repoURL: string;
  journalBranch: string;
  now: number;
  freezes: RepoContext["freezes"];
  planes: readonly (Pick<ControlPlane, "name" | "labels"> & {
    uiUrl: string | undefined;
    generates: boolean;
    reads: boolean;
    renders: boolean;
    syncs: boolean;
  })[];
  isGranted: boolean;
  /** The kind of its engine; undefined: none runs analyses. */
  analysis: string | undefined;
  signs: boolean;
  base: Pick<PlanBase, "commit" | "branch" | "journal">;
  pull: JudgedPull;
}

interface Kept {
  commits: Commits;
  releases: Releases;
  durationsOf: DurationsOf;
}

/** Repositories whose files are kept. */
const MOST_KEPT = 4;

const kept = new BoundedMap<string, Kept>(MOST_KEPT);

/** Judges one pull request. `ask` is of this job, and of every later one of this process. */
export async function judgeInside(input: JudgeInput, ask: Ask): Promise<Verdict> {
  const { repository, base, pull } = input;
  const mirror = portOf<Mirror>(ask, "mirror");
  const own = kept.get(repository) ?? openKept(mirror, ask);
  kept.set(repository, own);
  const context = contextOf(input, mirror, ask);
  const rules: Rules = {
    of: async (branch) => ask("rules", branch) as Awaited<ReturnType<Rules["of"]>>,
    bare: async (rollout) => ask("bare", rollout) as Awaited<ReturnType<Rules["bare"]>>,
    last: undefined,
  };
  const revisionsNow: RevisionsNow = async (named, mostMs) => ask("revisions", named, mostMs) as Awaited<ReturnType<RevisionsNow>>;
  const judge = openPullJudge(context, { ...own, rules, makePlan: openPlanner(context), revisionsNow });
  const project = await readProject(own.commits.snapshot(base.commit), base.branch);
  return judge({ ...base, project, plansForks: true, runs: new AskedMap(ask, "run"), index: new AskedMap(ask, "index") }, pull);
}

function openKept(mirror: Mirror, ask: Ask): Kept {
  const commits = openCommits(mirror);
  const tagsOf = async () => ask("tags") as ReadonlyMap<string, string>;
  return { commits, releases: openReleases(commits, tagsOf), durationsOf: openDurations(mirror) };
}

/** A map whose values are asked for one by one. */
class AskedMap<V> extends Map<string, V> {
  readonly #value: (key: string) => V | undefined;

  constructor(ask: Ask, question: string) {
    super();
    this.#value = (key) => ask(question, key) as V | undefined;
  }

  override get(key: string): V | undefined {
    return this.#value(key);
  }
}

type Context = Parameters<typeof openPullJudge>[0] & Parameters<typeof openPlanner>[0] & Pick<RepoContext, "writer" | "repository">;

function contextOf(input: JudgeInput, mirror: Mirror, ask: Ask): Context {
  const { repoURL, repository, journalBranch, freezes, isGranted, analysis, signs } = input;
  const log = (level: string) => (fields: object, message: string) => void ask("log", level, fields, message);
  return {
    ...{ repository, repoURL, journalBranch, freezes, mirror },
    planes: new Map(input.planes.map((plane) => [plane.name, planeOf(plane, ask)])),
    forge: portOf<Forge>(ask, "forge"),
    grants: isGranted ? { refusal: asked(ask, "grants.refusal"), limits: asked(ask, "grants.limits") } : undefined,
    clock: { now: () => input.now, after: () => () => undefined } satisfies Clock,
    log: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
    // Only which engine it is, and that there is a writer, is looked at here.
    analysis: analysis === undefined ? undefined : ({ engine: { kind: analysis } } as unknown as RepoContext["analysis"]),
    writer: signs ? ({} as NonNullable<RepoContext["writer"]>) : undefined,
  };
}

function asked<T>(ask: Ask, question: string): (...args: readonly unknown[]) => T {
  return (...args) => ask(question, ...args) as T;
}

/** A port whose methods ask; what may not be asked is refused outside. */
function portOf<T extends object>(ask: Ask, name: string): T {
  const target = {};
  const get =
    (_: object, method: string | symbol) =>
    async (...args: readonly unknown[]) =>
      ask(`${name}.${String(method)}`, ...args);
  return new Proxy(target, { get }) as T;
}

/** One control plane as it stood when it was asked first: nothing of it moves while a pull request is judged. */
export function planeOf({ name, labels, uiUrl, generates, reads, renders, syncs }: JudgeInput["planes"][number], ask: Ask): ControlPlane {
  const known = new Map<string, unknown>();
  const once = (method: string) =>
    ((...args: readonly unknown[]) => {
      const key = JSON.stringify([method, ...args]);
      if (!known.has(key)) known.set(key, ask(`plane.${method}`, name, ...args));
      return known.get(key);
    }) as never;
  /** Of lists that were told: nobody asks for thousands of them again, one by one. */
  const listed = new Map<string, ApplicationView>();
  const listOf = once("applications") as ControlPlane["applications"];
  const askOne = once("application") as ControlPlane["application"];
  const applications: ControlPlane["applications"] = (...owner) => {
    const list = listOf(...owner);
    for (const one of list) listed.set(`${one.namespace}/${one.name}`, one);
    return list;
  };
  const application: ControlPlane["application"] = (namespace, own) => listed.get(`${namespace}/${own}`) ?? askOne(namespace, own);
  const never = async () => {
    throw new Error("nothing is asked of Argo CD here");
  };
  const plane = { name, labels, uiUrl, state: once("state"), application, applications };
  const rest = { applicationSet: once("applicationSet"), clusters: once("clusters"), onChange: () => () => undefined };
  const idle = { ready: async () => undefined, reread: never, refresh: never, close: async () => undefined };
  const able = { ...(generates && { generate: never }), ...(reads && { content: never }), ...(syncs && { sync: never }) };
  return { ...plane, ...rest, ...idle, ...able, ...(renders && { manifests: once("manifests") }) };
}
