/** Where command blocks of the docs are run: what they need besides the sample is made here, or listed with why it cannot be. */
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openJournal } from "../../src/adapters/git/journal/journal.ts";
import { openMirror } from "../../src/adapters/git/mirror.ts";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { SEAL } from "../../src/adapters/git/testing/seal.ts";
import { said } from "../../src/core/reasons/run.ts";
import { startGitHub } from "../../src/sim/github/start.ts";
import { wallClock } from "../../src/surfaces/server/wall-clock.ts";
import { pausedRun } from "../stills.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const FLEET = join(ROOT, "fixtures/fleet");

export interface Place {
  /** Where the block is run. */
  cwd: string;
  env?: Record<string, string>;
  /** What a reader puts in for names that stand for something of theirs. */
  filledIn?: readonly [string, string][];
  /** What the page shows → what is there: addresses, versions. */
  shown?: readonly [string, string][];
  close?: () => Promise<void>;
}

/** Makes what a block `needs`, in an empty folder. */
export const PLACES: Record<string, (folder: string) => Promise<Place>> = {
  async "a mistake"(folder) {
    const cwd = fleetIn(folder);
    const file = join(cwd, "rollouts/my-app.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace("maxUnavailable", "maxUnavailble"));
    return { cwd };
  },
  async "a repo without rollouts"(folder) {
    return { cwd: withoutRollouts(fleetIn(folder)) };
  },
  async "a config repo of yours"(folder) {
    const cwd = join(folder, "here");
    mkdirSync(cwd, { recursive: true });
    git(withoutRollouts(fleetIn(join(folder, "my-config-repo"))), "init", "--quiet");
    return { cwd };
  },
  async "this machine's Node"(folder) {
    return { cwd: folder, shown: [["24.21.0", process.versions.node]] };
  },
  async "a journal"(folder) {
    const origin = join(folder, "origin.git");
    const cwd = fleetIn(join(folder, "checkout"));
    git(folder, "init", "--bare", "--quiet", "--initial-branch=main", origin);
    git(cwd, "init", "--quiet", "--initial-branch=main");
    git(cwd, "remote", "add", "origin", origin);
    git(cwd, "add", "--all");
    git(cwd, "commit", "--quiet", "-m", "the sample");
    git(cwd, "push", "--quiet", "origin", "HEAD");
    await recordRun(folder, origin);
    git(cwd, "fetch", "--quiet", "origin");
    return { cwd, filledIn: [["COMMIT", git(cwd, "rev-parse", "origin/stagecoach/journal~1")]] };
  },
  async "a cluster with Argo CD"(folder) {
    const cwd = withoutRollouts(fleetIn(join(folder, "checkout")));
    const bin = join(folder, "bin");
    mkdirSync(bin);
    // A stand-in: it prints what the cluster would have, and nothing else is asked of it.
    const script = `#!/bin/sh\ncase "$2" in secrets) cat ${FLEET}/inventory.yaml;; *) cat ${ROOT}test/support/docs-application.yaml;; esac\n`;
    writeFileSync(join(bin, "kubectl"), script);
    chmodSync(join(bin, "kubectl"), 0o755);
    return { cwd, env: { PATH: `${bin}:` }, filledIn: [["plan NAME", "plan my-app"]] };
  },
  async GitHub(folder) {
    const sim = await startGitHub({ clock: wallClock() });
    const files = new Map(
      readdirSync(FLEET, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .map((path) => [path.slice(FLEET.length + 1), readFileSync(path, "utf8")] satisfies [string, string]),
    );
    const { repository } = await sim.createRepo({ owner: "acme", name: "fleet", files });
    sim.collaborator(repository, "alice", "write");
    return {
      cwd: fleetIn(folder),
      env: { GH_REPO: `${sim.url}/${repository}`, GH_ENTERPRISE_TOKEN: sim.token("alice", "alice-of-the-docs") },
      shown: [["https://github.com", sim.url]],
      close: () => sim.close(),
    };
  },
};

/** What no test here can make, and where it is shown instead. */
export const ABSENT: Record<string, string> = {
  "an installation": "the package is built, installed and run by test/package.test.ts",
  "an installation, and GitHub": "github.com makes the App; the set-up page is driven by test/e2e/serve.test.ts and src/surfaces/server",
  "a minute, and a terminal": "test/package.test.ts runs it to its end without one",
  "a person": "test/e2e/demo.test.ts takes their place",
  "the demo's address and token": "test/e2e/demo.test.ts runs it against the demo it has started",
  "a bot at work": "test/e2e/demo.test.ts runs it against the demo it has started",
  "an App's credentials": "it runs until it is stopped; test/e2e/serve.test.ts starts and checks it",
  "somebody with maintain": "GitHub tells who moved the branch; src/surfaces/cli/journal/journal.test.ts accepts against the embedded one",
  "a release": "nothing is published yet; test/release/release.test.ts looks at the workflow that makes one",
  "docker and a registry": "test/image builds the image where docker is",
  "a cluster": "kubectl, kustomize, yq or argocd against one; test/deploy.test.ts checks what is applied",
  fish: "src/surfaces/cli/completion.test.ts reads what it prints",
};

function fleetIn(folder: string): string {
  cpSync(FLEET, folder, { recursive: true });
  return folder;
}

function withoutRollouts(folder: string): string {
  for (const path of ["rollouts", ".github"]) rmSync(join(folder, path), { recursive: true, force: true });
  return folder;
}

/** The run that the README shows: paused on a failure, with what led there. */
async function recordRun(folder: string, origin: string): Promise<void> {
  const mirror = await openMirror({ directory: join(folder, "mirror.git"), url: origin, allowFile: true });
  try {
    const journal = openJournal({ mirror, app: "stagecoach[bot]", seal: SEAL });
    const { run } = pausedRun();
    const at = Date.parse(run.since);
    const trailers = {};
    const earlier = {
      ...run,
      phase: "Progressing" as const,
      paused: undefined,
      why: said("batch 1 of 3 of eu-central-1 waits for Argo CD"),
    };
    await journal.record({
      runs: [earlier],
      subject: `my-app run 7: batch 1 of stage "eu-central-1" merged: #104`,
      trailers,
      at: at - 60_000,
    });
    await journal.read();
    await journal.record({ runs: [run], subject: "my-app run 7: paused", trailers, at });
  } finally {
    await mirror.close();
  }
}
