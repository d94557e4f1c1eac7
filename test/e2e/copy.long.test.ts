import { afterEach, describe, expect, test } from "vitest";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { githubPage } from "../support/github-page.ts";
import { ended, type Journey, startJourney } from "../support/journey.ts";
import { onMain } from "../support/second-rollout.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const RINGS = ["eu", "us"];
const FROM = "environments/staging";

/** One cluster, two Applications on it, each with a directory of its own that is a copy of staging's. */
function rings(files: Map<string, string>): void {
  const repoURL = /repoURL: (\S+)/.exec(files.get("appsets/my-app-set.yaml") ?? "")?.[1] ?? "";
  files.delete("appsets/my-app-set.yaml");
  const names = ["kustomization.yaml", "deployment.yaml", "service.yaml"];
  for (const name of names) files.set(`${FROM}/${name}`, files.get(`apps/my-app/${name}`) ?? "");
  for (const ring of RINGS) {
    for (const name of names) files.set(`environments/${ring}/${name}`, files.get(`apps/my-app/${name}`) ?? "");
    // Staging has it no more.
    files.set(`environments/${ring}/notes.txt`, `of ${ring}\n`);
    files.set(
      `appsets/app-${ring}.yaml`,
      `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: { name: app-${ring}, namespace: argocd, labels: { app: my-app, ring: ${ring} } }
spec:
  project: default
  source: { repoURL: "${repoURL}", path: environments/${ring}, targetRevision: main }
  destination: { server: "https://one.k8s.example.com", namespace: app-${ring} }
  syncPolicy: { automated: {}, syncOptions: [CreateNamespace=true] }
`,
    );
  }
  const stages = RINGS.map((ring) => `    - { name: ${ring}, targets: { selector: { matchLabels: { ring: ${ring} } } } }\n`);
  files.set(
    "rollouts/my-app.yaml",
    `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: my-app }
spec:
  sourceRef: { kind: Application, selector: { matchLabels: { app: my-app } } }
  targetBy: application
  release: { commit: { paths: ["${FROM}/**"] } }
  mode: Run
  pins: [ { copy: { from: ${FROM}, to: "environments/{{ application.labels.ring }}" } } ]
  stages:
${stages.join("")}`,
  );
}

async function start(): Promise<Journey> {
  journey = await startJourney({
    files: rings,
    clusters: [{ name: "one", server: "https://one.k8s.example.com", labels: {} }],
    sets: RINGS.length,
  });
  return journey;
}

const treeOf = ({ world }: Journey, ring: string, at = "main") =>
  git(world.github.repoDirectory(world.repository), "rev-parse", `${at}:environments/${ring}`);

/** A PR that changes what stands in staging's directory: one file changed, one added. */
async function openRelease(of: Journey): Promise<number> {
  const alice = of.world.github.actAs("alice");
  const kustomization = onMain(of, `${FROM}/kustomization.yaml`).replace("v1.4.1", "v1.4.2");
  const files = {
    [`${FROM}/kustomization.yaml`]: `${kustomization.replace("service.yaml", "service.yaml\n  - extra/settings.yaml")}\n`,
    [`${FROM}/extra/settings.yaml`]: "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings }\ndata: { level: info }\n",
  };
  await alice.push(of.world.repository, { branch: "next", files, message: "Staging goes to v1.4.2" });
  return alice.openPull(of.world.repository, { head: "next", title: "Staging goes to v1.4.2" });
}

describe("a directory that is copied to each ring", () => {
  test("one ring, then the next, which fails; /rollback puts both directories back to the byte", async () => {
    const own = await start();
    const { world } = own;
    const before = RINGS.map((ring) => treeOf(own, ring));
    world.argocd.setFault("one", { kind: "degraded", application: "app-us", revision: "v1.4.2" });
    const pull = await openRelease(own);
    const plan = await world.untilComment(pull, "Plan:");
    expect(plan).toContain(`${FROM}/ → environments/eu/`);
    expect(plan).toContain("(files: 1 added, 1 changed, 1 removed)");
    await world.github.actAs("alice").mergePull(world.repository, pull, "squash");
    const first = await own.until("the first ring is confirmed", ({ batches }) => batches[0]?.phase === "Settled");
    const staging = treeOf(own, "staging");
    expect([treeOf(own, "eu"), first.batches[0]?.targets[0]?.edits[0]]).toMatchObject([
      staging,
      { kind: "copy", file: "environments/eu", path: FROM, from: before[0], to: staging },
    ]);
    const paused = await own.until("the run pauses", (run) => run.phase === "Paused");
    expect(paused.batches.map(({ targets }) => targets.map(({ application, phase }) => `${application} ${phase}`))).toEqual([
      ["app-eu Baked"],
      ["app-us Failed"],
    ]);
    const repo = world.github.repoDirectory(world.repository);
    for (const [at, ring] of RINGS.entries())
      expect(git(repo, "show", "--format=", "--name-status", "--no-renames", paused.batches[at]?.merged?.commit ?? "").split("\n")).toEqual(
        [`A\tenvironments/${ring}/extra/settings.yaml`, `M\tenvironments/${ring}/kustomization.yaml`, `D\tenvironments/${ring}/notes.txt`],
      );
    const batch = await githubPage(world).pull(paused.batches[0]?.pull?.number ?? 0);
    expect(batch.body).toContain(`copy of ${FROM}/: 1 added, 1 changed, 1 removed`);
    world.github.actAs("bob").comment(world.repository, pull, "/rollback");
    const back = await own.until("the way back ends", (run) => run.kind === "Rollback" && ended(run));
    expect([back.phase, own.errors]).toEqual(["RolledBack", []]);
    expect(RINGS.map((ring) => treeOf(own, ring))).toEqual(before);
  });

  test("a file that somebody puts beside the copy is drift, and pauses the run", async () => {
    const own = await start();
    const { world } = own;
    world.argocd.setFault("one", { kind: "degraded", application: "app-us", revision: "v1.4.2" });
    const pull = await openRelease(own);
    await world.github.actAs("alice").mergePull(world.repository, pull, "squash");
    await own.until("the second ring is merged", ({ batches }) => batches[1]?.merged !== undefined);
    const files = { "environments/eu/hotfix.yaml": "# by hand\n" };
    await world.github.actAs("bob").push(world.repository, { branch: "main", files, message: "Hotfix by hand" });
    const paused = await own.until("the run pauses for it", ({ paused: why }) => why?.kind === "Drift");
    expect(paused.paused?.reason).toMatchObject({
      code: "PIN_DRIFT",
      place: { file: "environments/eu/" },
      by: { subject: "Hotfix by hand" },
    });
  });

  test("/hotfix brings a ring out of its turn, as the release has the directory", async () => {
    const own = await start();
    const { world } = own;
    const pull = await openRelease(own);
    await world.github.actAs("alice").mergePull(world.repository, pull, "squash");
    await own.until("the first ring's batch is there", ({ batches }) => batches.length > 0);
    world.github.actAs("bob").comment(world.repository, pull, "/hotfix app-us urgent");
    const fixed = await own.until("the ring has it", ({ batches }) =>
      batches.some(({ kind, merged }) => kind === "Hotfix" && merged !== undefined),
    );
    const batch = fixed.batches.find(({ kind }) => kind === "Hotfix");
    expect(batch?.targets.map(({ application }) => application)).toEqual(["app-us"]);
    expect(treeOf(own, "us")).toBe(treeOf(own, "staging"));
    const done = await own.until("it ends", ended);
    expect([done.phase, own.errors]).toEqual(["Succeeded", []]);
  });
});
