/** A repo that nobody prepared, as its team meets Stagecoach: `stagecoach init --write` in a clone, its files merged, a release merged: staged. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { run as init } from "../../src/surfaces/cli/init/init.ts";
import { ended, type Journey, startJourney } from "../support/journey.ts";
import { mergeChange, onMain, untilRunOf } from "../support/second-rollout.ts";

let journey: Journey | undefined;
let folder: string | undefined;

afterEach(async () => {
  vi.restoreAllMocks();
  await journey?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  [journey, folder] = [undefined, undefined];
});

const SERVER = "https://one.k8s.example.com";

/** As teams write it by hand: comments, a base, an overlay and an Application for each environment, and no word of Stagecoach. */
function teamRepo(repoURL: string): [string, string][] {
  const base = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers:
        - name: web
          image: ghcr.io/acme/web
`;
  const shared: [string, string][] = [
    ["README.md", "# Deployments\n\nBump the tag in overlays/ENV, open a PR.\n"],
    ["deploy/web/base/deployment.yaml", base],
    ["deploy/web/base/kustomization.yaml", "resources:\n  - deployment.yaml\n"],
  ];
  const own = ["dev", "staging", "prod"].flatMap((env): [string, string][] => {
    const overlay = `# Owner: team web\nresources:\n  - ../../base\nimages:\n  - name: ghcr.io/acme/web\n    newTag: v1.4.1   # set by CI\n`;
    const application = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: web-${env}
  namespace: argocd
spec:
  project: default
  source:
    repoURL: ${repoURL}
    targetRevision: HEAD
    path: deploy/web/overlays/${env}
  destination:
    server: ${SERVER}
    namespace: web-${env}
  syncPolicy:
    automated: { prune: true, selfHeal: true }
    syncOptions: [CreateNamespace=true]
`;
    return [
      [`deploy/web/overlays/${env}/kustomization.yaml`, overlay],
      [`argocd/${env}/web.yaml`, application],
    ];
  });
  return [...shared, ...own];
}

test("init --write in a clone, its files merged, a release merged: staged batch by batch", async () => {
  journey = await startJourney({
    unprotected: true,
    files(files) {
      const repoURL = /repoURL: (\S+)/.exec(files.get("appsets/my-app-set.yaml") ?? "")?.[1] ?? "";
      files.clear();
      for (const [file, text] of teamRepo(repoURL)) files.set(file, text);
    },
    clusters: [{ name: "one", server: SERVER, labels: {} }],
    sets: 3,
    planes: [{ name: "hub", labels: {}, path: "argocd" }],
    rollout: "web",
  });
  const of = journey;
  const { github, repository } = of.world;
  folder = mkdtempSync(join(tmpdir(), "stagecoach-init-"));
  git(folder, "clone", "--quiet", github.repoDirectory(repository), "config");
  const clone = join(folder, "config");
  const said = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  expect(await init([clone, "--write"])).toBe(0);
  expect(said.mock.calls.join("")).toContain("Written: .github/stagecoach.yaml, rollouts/web.yaml.");
  said.mockRestore();

  // Merged as it was written. Nothing moves: what is there is adopted.
  const written = [".github/stagecoach.yaml", "rollouts/web.yaml"].map((file) => [file, readFileSync(join(clone, file), "utf8")] as const);
  await mergeChange(of, "alice", Object.fromEntries(written), "Adopt Stagecoach");
  await github.idle();
  await of.bot.idle();
  expect(of.bot.runs()).toEqual([]);

  // The release: one line. `mode: Propose`: a person merges each batch, and the next comes only once it is live.
  const rollout = onMain(of, "rollouts/web.yaml");
  await mergeChange(of, "alice", { "rollouts/web.yaml": rollout.replace("version: v1.4.1", "version: v1.4.2") }, "Release 1.4.2");
  const overlays = () => ["dev", "staging", "prod"].map((env) => onMain(of, `deploy/web/overlays/${env}/kustomization.yaml`));
  for (const at of [0, 1, 2]) {
    const open = await untilRunOf(of, "web", `batch ${at + 1} is open`, (run) => run.batches[at]?.phase === "Open");
    expect(overlays().map((text) => text.includes("newTag: v1.4.2   # set by CI"))).toEqual([at > 0, at > 1, false]);
    await github.actAs("bob").mergePull(repository, open.batches[at]?.pull?.number ?? 0, "squash");
  }
  const run = await untilRunOf(of, "web", "the run ends", ended);
  const taken = run.batches.map(({ targets }) => targets.map(({ cluster }) => cluster.replace(/^.*\//, "")));
  expect([run.phase, taken, of.errors]).toEqual(["Succeeded", [["web-dev"], ["web-staging"], ["web-prod"]], []]);
  expect(overlays().every((text) => text.includes("newTag: v1.4.2   # set by CI"))).toBe(true);
});
