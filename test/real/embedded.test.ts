import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { afterAll, expect, test } from "vitest";
import { NEXT } from "./files.ts";
import { realJourney } from "./journey.ts";

const children: ChildProcess[] = [];

afterAll(() => {
  for (const child of children) child.kill("SIGTERM");
});

/** An embedded Kubernetes API and Argo CD in a process of their own, of which nothing is known here but a kubeconfig. */
async function separate(repoURL: string) {
  const code = `const { run } = await import(${JSON.stringify(new URL("../../src/surfaces/cli/sim/argocd.ts", import.meta.url).href)});
    process.exitCode = await run(${JSON.stringify(["--repo-url", repoURL, "--path", "releases", "--tls", "--quick"])});`;
  const started = spawn(process.execPath, ["--input-type=module", "--eval", code], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(started);
  const line = await new Promise<string>((resolve, reject) => {
    let text = "";
    started.stdout.on("data", (chunk: Buffer) => {
      text += chunk;
      if (text.includes("\n")) resolve(text);
    });
    started.on("exit", () => reject(new Error("it ended before it was ready")));
  });
  const { kubeconfig, url, token, ca } = JSON.parse(line) as Record<"kubeconfig" | "url" | "token" | "ca", string>;
  return { kubeconfig: await readFile(kubeconfig, "utf8"), api: { url, token, ca: await readFile(ca, "utf8") } };
}

test.concurrent("the journey against a real Argo CD goes well against the embedded one, as a process of its own", async () => {
  const outcome = await realJourney({
    github: {},
    access: separate,
    argocd: "argocd",
    clusters: 3,
    // It compares by itself a second after each sync; one that is asked for could come too early to prove anything.
    refresh: false,
    settle: "2s",
    patience: 600_000,
  });
  expect([outcome.run.phase, outcome.errors, outcome.left]).toEqual(["Succeeded", [], []]);
  expect(outcome.run.batches.map((batch) => batch.targets.length)).toEqual([1, 2]);
  expect(outcome.atMerge.map(({ batch, revision, sync, health }) => [batch, revision, sync, health])).toEqual([
    [2, NEXT, "Synced", "Healthy"],
  ]);
});

test.concurrent("environments on a hub are released through Argo CD's API, the last one synced by the bot, and taken back", async () => {
  const { run, back, byHand, commits, errors, left } = await realJourney({
    github: {},
    access: separate,
    overApi: true,
    argocd: "argocd",
    clusters: 3,
    refresh: false,
    settle: "2s",
    patience: 600_000,
  });
  expect([run.phase, back?.phase, errors, left]).toEqual(["Succeeded", "RolledBack", [], []]);
  expect(run.batches.map((batch) => batch.targets.length)).toEqual([1, 1, 1]);
  expect(byHand.map(({ revision, phase }) => [revision, phase])).toEqual([
    [commits.next, "Succeeded"],
    [commits.first, "Succeeded"],
  ]);
});
