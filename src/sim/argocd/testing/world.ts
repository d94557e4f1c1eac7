import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../../core/base/time.ts";
import { readRefs } from "../../github/git/refs.ts";
import { type KubernetesSim, startKubernetes } from "../../kubernetes/index.ts";
import { SHORT_LAG } from "../application/lag.ts";
import { runGit } from "../git/git-process.ts";
import { type GitSource, openGitSource } from "../git/git-source.ts";
import { type ArgoCdOptions, type ArgoCdSim, startArgoCd } from "../index.ts";
import { type Application, asApplication } from "../types.ts";

/** A clock that stands until it is moved. */
interface ManualClock extends Clock {
  /** Moves on, and calls what is due on the way, each at its own time. */
  advance(ms: number): void;
}

export function manualClock(start = Date.parse("2026-09-21T12:00:00Z")): ManualClock {
  let now = start;
  let order = 0;
  const timers = new Map<number, { at: number; wake: () => void }>();
  return {
    now: () => now,
    after(ms, wake) {
      const id = order++;
      timers.set(id, { at: now + ms, wake });
      return () => timers.delete(id);
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const due = [...timers].filter(([, { at }]) => at <= end).sort(([a, x], [b, y]) => x.at - y.at || a - b)[0];
        if (due === undefined) break;
        timers.delete(due[0]);
        now = Math.max(now, due[1].at);
        due[1].wake();
      }
      now = end;
    },
  };
}

/** A repository in a temporary directory. */
export interface TestRepo {
  url: string;
  /** Commits files (null removes one) on a branch; returns the id. */
  commit(files: Record<string, string | null>, branch?: string): Promise<string>;
  git(...args: string[]): Promise<string>;
  remove(): Promise<void>;
}

export async function testRepo(files: Record<string, string>): Promise<TestRepo> {
  const url = await mkdtemp(join(tmpdir(), "stagecoach-test-"));
  const git = async (...args: string[]) =>
    (await runGit(["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { cwd: url })).toString().trim();
  await git("init", "--bare", "--quiet", "--initial-branch=main", ".");
  const repo: TestRepo = {
    url,
    git,
    async commit(changes, branch = "main") {
      const ref = `refs/heads/${branch}`;
      const parent = readRefs(url).refs.get(ref);
      const lines = [`commit ${ref}`, "committer t <t@example.com> 1790000000 +0000", "data 1", "c"];
      if (parent !== undefined) lines.push(`from ${parent}`);
      for (const [path, text] of Object.entries(changes)) {
        if (text === null) lines.push(`D ${path}`);
        else lines.push(`M 100644 inline ${path}`, `data ${Buffer.byteLength(text)}`, text);
      }
      await runGit(["fast-import", "--quiet", "--force"], { cwd: url, input: `${lines.join("\n")}\n` });
      return readRefs(url).refs.get(ref) ?? "";
    },
    remove: () => rm(url, { recursive: true, force: true }),
  };
  await repo.commit(files);
  return repo;
}

/** An Argo CD under a clock that stands still, with its repository. */
export interface TestWorld {
  clock: ManualClock;
  repo: TestRepo;
  source: GitSource;
  kubernetes: KubernetesSim;
  argo: ArgoCdSim;
  /** Lets so much time go by, with everything that falls due in it. */
  pass(ms: number): Promise<void>;
  /** Lets time go by until it holds; rejects after ten minutes of the clock. */
  until(what: string, holds: () => boolean): Promise<void>;
  app(name: string): Application;
  /** Every state of an Application that was written, in order. */
  states(name: string): Application[];
  create(name: string, spec?: Record<string, unknown>, metadata?: Record<string, unknown>): void;
  edit(name: string, edit: (app: Application) => Application): void;
  close(): Promise<void>;
}

export async function testWorld(
  files: Record<string, string>,
  options: Partial<ArgoCdOptions> & Pick<ArgoCdOptions, "render">,
): Promise<TestWorld> {
  const clock = manualClock();
  const repo = await testRepo(files);
  const kubernetes = await startKubernetes({ clock });
  const source = await openGitSource({ url: repo.url });
  const argo = await startArgoCd({ kubernetes, clock, git: source, lag: SHORT_LAG, ...options });
  const { store } = kubernetes;
  const app = (name: string): Application => {
    const object = store.get("applications", "argocd", name);
    if (object === undefined) throw new Error(`no Application ${name}`);
    return asApplication(object);
  };

  /** Runs to the next moment at which something is due, at the latest to `end`; false: it is there. */
  async function step(end: number): Promise<boolean> {
    const at = Math.min(argo.nextAt() ?? end, end);
    clock.advance(Math.max(0, at - clock.now()));
    await argo.idle();
    return at < end;
  }

  return {
    ...{ clock, repo, source, kubernetes, argo, app },
    async pass(ms) {
      const end = clock.now() + ms;
      await argo.idle();
      while (await step(end));
    },
    async until(what, holds) {
      const end = clock.now() + 600_000;
      await argo.idle();
      while (!holds()) {
        if (!(await step(end)) && !holds()) throw new Error(`ten minutes went by without: ${what}`);
      }
    },
    states(name) {
      const events = store.since("applications", 0);
      return events.filter(({ object }) => object.metadata.name === name).map(({ object }) => asApplication(object));
    },
    create(name, spec = {}, metadata = {}) {
      const source = { repoURL: repo.url, targetRevision: "main", path: "app" };
      const destination = { name: "eu-1", namespace: "app" };
      store.create({
        apiVersion: "argoproj.io/v1alpha1",
        kind: "Application",
        metadata: { name, namespace: "argocd", ...metadata },
        spec: { project: "default", source, destination, syncPolicy: { automated: {} }, ...spec },
      });
    },
    edit(name, edit) {
      store.change("applications", "argocd", name, (object) => edit(asApplication(object)));
    },
    async close() {
      await argo.close();
      await kubernetes.close();
      await repo.remove();
    },
  };
}
