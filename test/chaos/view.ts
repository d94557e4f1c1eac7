/** What a config repository looks like to people and to its journal, read past every wire. */
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import type { ChaosWorld } from "./world.ts";

const run = promisify(execFile);
/** How titles of batches begin. */
const BATCH = "app v2: ";
const MERGED = "success: was merged";

/** A control plane may be away when a release is merged: that is said, and taken back once its run has begun. */
const isTakenBack = (body: string): boolean => body.startsWith("<!-- stagecoach:not-started -->") && body.includes("problems are solved");

/** As it is once nothing goes on any more: the same with and without faults. No time, commit or number of a pull request stands in it. */
export interface End {
  phase: string | undefined;
  /** Stage, attempt, phase of each batch, and of its targets. */
  batches: string[];
  /** Cluster and version. */
  versions: string[];
  merges: string[];
  branches: string[];
  deployments: string[];
  openIssues: string[];
  /** `gate`: what the check of a batch still says though it was merged. One that could not be posted in time is not missed. */
  pulls: { title: string; state: string; gate: string[]; comments: string[] }[];
}

export interface View {
  /** Of the run; undefined: there is none yet. */
  phase(): Promise<string | undefined>;
  /** What was there is known: from now on a merge is a release. */
  isAdopted(): Promise<boolean>;
  /** Subjects of the batches on `main`, oldest first. */
  merges(): Promise<string[]>;
  /** Messages of the journal's commits, oldest first, and how many parents each has. */
  journal(): Promise<{ message: string; parents: number }[]>;
  end(): Promise<End>;
}

interface Pull {
  number: number;
  title: string;
  state: string;
  merged_at: string | null;
  head: { sha: string };
}

export async function openView(world: ChaosWorld, repository: string, folder: string): Promise<View> {
  const mirror = join(folder, `view-${repository.replace("/", "-")}`);
  await mkdir(mirror);
  const git = async (...args: string[]) => (await run("git", ["-C", mirror, ...args], { maxBuffer: 64 * 1024 * 1024 })).stdout;
  await git("init", "--quiet", "--bare");
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other, for two would be in each other's way. */
  const fetch = async () => {
    const mine = last.then(() => git("fetch", "--quiet", "--prune", world.cloneUrl(repository), "+refs/heads/*:refs/heads/*"));
    last = mine.catch(() => undefined);
    await mine;
  };
  const read = async (path: string) =>
    await git("show", `stagecoach/journal:${path}`).then(
      (text) => parse(text) as Record<string, unknown>,
      () => undefined,
    );
  const get = async <T>(path: string) => (await world.api("GET", `/repos/${repository}${path}`)) as T;
  const runFile = async () => await read("runs/app/1/run.yaml");
  const merges = async () => {
    const subjects = (await git("log", "--first-parent", "--reverse", "--format=%s", "main")).trim().split("\n");
    return subjects.filter((subject) => subject.startsWith(BATCH)).map((subject) => subject.replace(/ \(#\d+\)$/, ""));
  };

  async function pullEnd({ number, title, state, merged_at: mergedAt, head }: Pull): Promise<End["pulls"][number]> {
    const { check_runs: runs } = await get<{ check_runs: { id: number; name: string; conclusion: string; output: { title: string } }[] }>(
      `/commits/${head.sha}/check-runs?per_page=100`,
    );
    const gates = title.startsWith(BATCH) ? runs.filter(({ name }) => name === "stagecoach/gate") : [];
    const comments = await get<{ user: { login: string }; body: string; reactions?: Record<string, number> }[]>(
      `/issues/${number}/comments?per_page=100`,
    );
    return {
      title,
      state: mergedAt === null ? state : "merged",
      gate: gates.map(({ conclusion, output }) => `${conclusion}: ${output.title}`).filter((one) => one !== MERGED),
      comments: comments
        .filter(({ body }) => !isTakenBack(body))
        .map(({ body, user }) => `${user.login}: ${firstWords(body)}`)
        .sort(),
    };
  }

  return {
    async phase() {
      await fetch();
      return (await runFile())?.["phase"] as string | undefined;
    },
    async isAdopted() {
      await fetch();
      return (await read("index.yaml")) !== undefined;
    },
    async merges() {
      await fetch();
      return await merges();
    },
    async journal() {
      await fetch();
      const log = await git("log", "--reverse", "--format=%P%x00%B%x01", "stagecoach/journal");
      const commits = log.split("\u0001").filter((one) => one.trim() !== "");
      return commits.map((one) => {
        const [parents = "", message = ""] = one.split("\0");
        return { message, parents: parents.trim().split(" ").filter(Boolean).length };
      });
    },
    async end() {
      await fetch();
      const batches: string[] = [];
      for (let n = 1; ; n++) {
        const batch = await read(`runs/app/1/batches/${String(n).padStart(3, "0")}.yaml`);
        if (batch === undefined) break;
        const targets = (batch["targets"] as { key: string; phase: string }[]).map(
          ({ key, phase }) => `${key.split("/").at(-1)}: ${phase}`,
        );
        batches.push(`${batch["stage"]} ${batch["ofStage"]}, attempt ${batch["attempt"]}, ${batch["phase"]}: ${targets.join(", ")}`);
      }
      const deployments = await get<{ id: number; environment: string }[]>("/deployments?per_page=100");
      const states = deployments.map(async ({ id, environment }) => {
        const statuses = await get<{ id: number; state: string }[]>(`/deployments/${id}/statuses`);
        return `${environment}: ${statuses.sort((a, b) => b.id - a.id)[0]?.state}`;
      });
      const issues = await get<{ title: string; pull_request?: object }[]>("/issues?state=open&per_page=100");
      const pulls = await get<Pull[]>("/pulls?state=all&per_page=100");
      return {
        phase: (await runFile())?.["phase"] as string | undefined,
        batches,
        versions: [...(await git("show", "main:appsets/app.yaml")).matchAll(/cluster: (\w+), version: (\w+)/g)].map(
          ([, c, v]) => `${c} ${v}`,
        ),
        merges: await merges(),
        branches: (await get<{ name: string }[]>("/branches?per_page=100")).map(({ name }) => name).sort(),
        deployments: (await Promise.all(states)).sort(),
        openIssues: issues.filter((one) => one.pull_request === undefined).map(({ title }) => title),
        pulls: (await Promise.all(pulls.map(pullEnd))).sort((a, b) => (a.title < b.title ? -1 : 1)),
      };
    },
  };
}

/** What kind of comment it is: its hidden first line, and the first one that is seen. */
function firstWords(body: string): string {
  const [first = "", second = ""] = body.split("\n").filter((line) => line.trim() !== "");
  return `${first} ${second}`
    .replace(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?/g, "TIME")
    .replace(/\d{4,}/g, "N")
    .trim();
}
