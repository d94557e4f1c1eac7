import { Octokit } from "@octokit/rest";
import type { Clock } from "../../../core/base/time.ts";
import { type GitHubOptions, type GitHubSim, startGitHub } from "../start.ts";

/** A clock that stands still until it is told to go on; timers ring when it passes them. */
export function steppedClock(start = Date.parse("2026-11-21T10:00:00.400Z")): Clock & { step(ms: number): void } {
  let now = start;
  const timers: { at: number; wake: () => void }[] = [];
  return {
    now: () => now,
    after(ms, wake) {
      const timer = { at: now + ms, wake };
      timers.push(timer);
      return () => timers.splice(timers.indexOf(timer) >>> 0, 1);
    },
    step(ms) {
      now += ms;
      for (const timer of timers.filter((one) => one.at <= now)) {
        timers.splice(timers.indexOf(timer), 1);
        timer.wake();
      }
    },
  };
}

export interface TestGitHub {
  sim: GitHubSim;
  clock: ReturnType<typeof steppedClock>;
  /** The only repository, `acme/config`: a few files on `main`. */
  place: { owner: string; repo: string };
  repository: string;
  head: string;
  installationId: number;
  /** With a token of that account. */
  octokit(login: string): Octokit;
  withToken(token: string): Octokit;
  /** With the App's installation token. */
  appOctokit(): Octokit;
  /** A branch with one commit that writes `files`; gives the commit. */
  branch(name: string, files: Record<string, string>): Promise<string>;
}

/** An embedded GitHub with one repository, a maintainer `mia`, a writer `wim` and a reader `rob`. */
export async function testGitHub(options: Partial<GitHubOptions> = {}): Promise<TestGitHub> {
  const clock = steppedClock();
  const sim = await startGitHub({ clock, ...options });
  const files = new Map([
    ["README.md", "config\n"],
    ["apps/a.yaml", "one: 1\ntwo: 2\nthree: 3\nfour: 4\nfive: 5\nversion: v1\n"],
    ["apps/b.yaml", "version: v1\n"],
  ]);
  const made = await sim.createRepo({ owner: "acme", name: "config", files });
  sim.collaborator(made.repository, "mia", "maintain");
  sim.collaborator(made.repository, "wim", "write");
  sim.collaborator(made.repository, "rob", "read");
  const octokit = (auth: string) => new Octokit({ baseUrl: sim.url, auth, log: { debug() {}, info() {}, warn() {}, error() {} } });
  const installationId = made.installationId ?? 0;
  return {
    sim,
    clock,
    place: { owner: "acme", repo: "config" },
    repository: made.repository,
    head: made.head,
    installationId,
    octokit: (login) => octokit(sim.token(login)),
    withToken: octokit,
    appOctokit: () => octokit(sim.installationToken(installationId)),
    branch: (name, content) => sim.actAs("wim").push(made.repository, { branch: name, files: content, message: `Change ${name}` }),
  };
}

/** Status, message and details of the refusal that the call ends in. */
export async function refusal(call: Promise<unknown>): Promise<{ status: number; message: string; errors: unknown }> {
  try {
    await call;
  } catch (error) {
    const { status, response } = error as { status: number; response?: { data?: { message?: string; errors?: unknown } } };
    return { status, message: response?.data?.message ?? "", errors: response?.data?.errors };
  }
  throw new Error("it was not refused");
}
