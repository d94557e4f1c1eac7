/** Applications that a selector takes, and that ApplicationSets made: their sets are guarded as one that a rollout names. */
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { batchTarget, sampleRollout, sampleRun } from "../../../../test/support/sample-run.ts";
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import { type Workspace, workspace } from "../../../adapters/git/testing/repositories.ts";
import type { ApplicationSetView, ApplicationView } from "../../../core/argocd/views.ts";
import type { Edit, Plan } from "../../../core/plan/plan-types.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { Rollout, SourceRef } from "../../../core/spec/rollout.ts";
import { fastClock } from "../../../sim/clock.ts";
import { openRenderer } from "../../config-repo/rendered.ts";
import { touchesOf } from "../../release-pr/judge-pull-touched.ts";
import type { JudgedPull, PlanBase } from "../../release-pr/types.ts";
import { openUnstagedJudge } from "../../release-pr/unstaged.ts";
import { setsOfSource } from "../../resolve/source-sets.ts";
import { type Parts, partsOf } from "../../testing/parts.ts";
import { openBatchCommits } from "../act/batch-commit.ts";
import type { RepoContext } from "../context.ts";
import { openGuard } from "./guard.ts";

const URL = "https://github.example/org/config";
const FILE = "appsets/payments.yaml";
const AT = "spec.generators[0].list.elements[cluster=us-1].version";
const SELECTOR = { matchLabels: { app: "payments" }, matchExpressions: [] };

type Data = Record<string, unknown>;

function labelled(set: Data, labels: Record<string, string>): Data {
  return { ...set, metadata: { ...(set["metadata"] as Data), labels } };
}

function setOf(name: string, generators: unknown[] = [{ list: { elements: elementsOf() } }], revision = "{{version}}"): Data {
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "ApplicationSet",
    metadata: { name, namespace: "argocd" },
    spec: {
      generators,
      template: {
        metadata: { name: `${name}-{{cluster}}` },
        spec: {
          project: "default",
          source: { repoURL: URL, path: "apps", targetRevision: revision },
          destination: { name: "{{cluster}}", namespace: "x" },
        },
      },
    },
  };
}

function elementsOf(versions: Record<string, string> = { "us-1": "v1.4.1", "eu-1": "v1.4.1" }) {
  return Object.entries(versions).map(([cluster, version]) => ({ cluster, version }));
}

/** One that a set made. */
function made(set: string, cluster: string, labels: Record<string, string> = { app: "payments" }): ApplicationView {
  const sources = [{ repoURL: URL, path: "apps", targetRevision: "v1.4.1" }];
  const owner = { kind: "ApplicationSet", name: set, uid: "1" };
  return { name: `${set}-${cluster}`, namespace: "argocd", labels, owner, spec: { sources } } as unknown as ApplicationView;
}

let repo: Workspace;
let mirror: Mirror;
let memory: Parts;

beforeEach(async () => {
  repo = workspace({ "README.md": "config\n" });
  mirror = await openMirror({ directory: join(repo.directory, "mirror"), url: repo.origin, allowFile: true });
  memory = partsOf({ mirror });
});

afterEach(async () => {
  await mirror.close();
  repo.remove();
});

interface World {
  /** By file: sets that stand in it. All of them live. */
  sets?: Record<string, Data[]>;
  /** Files that are not in Git. */
  elsewhere?: Data[];
  files?: Record<string, string>;
  applications?: ApplicationView[];
  source?: Partial<SourceRef>;
  edit?: Partial<Edit>;
}

async function begin(world: World): Promise<{ context: RepoContext; run: Run; batch: Batch; base: string }> {
  const sets = world.sets ?? { [FILE]: [setOf("payments")] };
  const texts = Object.entries(sets).map(([file, all]) => [file, all.map((one) => stringify(one)).join("---\n")]);
  repo.commitFiles({ ...Object.fromEntries(texts), ...world.files });
  await mirror.fetch(["main"]);
  const living = [...Object.values(sets).flat(), ...(world.elsewhere ?? [])];
  const applications = world.applications ?? [made("payments", "us-1"), made("payments", "eu-1")];
  const plane: Partial<ControlPlane> = {
    name: "hub",
    state: () => ({ fresh: true, since: "2026-11-21T09:00:00.000Z" }),
    applicationSet: (_, name) => {
      const one = living.find(({ metadata }) => (metadata as Data)["name"] === name);
      const { labels } = (one?.["metadata"] ?? {}) as { labels?: Record<string, string> };
      return one && ({ resourceVersion: "1", labels, spec: one["spec"] } as ApplicationSetView);
    },
    applications: (owner) => applications.filter((one) => owner === undefined || one.owner?.name === owner.name),
    application: (_, name) => applications.find((one) => one.name === name),
    clusters: () => [],
  };
  const planes = new Map([["hub", plane]]);
  const author = { name: "Bot", email: "b@x.y" };
  const context = { mirror, clock: fastClock(), planes, repoURL: URL, author } as unknown as RepoContext;
  const base = sampleRollout().source;
  const source: SourceRef = { ...base, kind: "Application", name: "", selector: SELECTOR, controlPlanes: [], ...world.source };
  const edit = { kind: "value" as const, file: FILE, path: AT, from: "v1.4.1", to: "v1.4.2", ...world.edit };
  const targets = [{ ...batchTarget("us-1", "Pending"), edits: [edit] }];
  const pins = [{ kind: "value" as const, file: FILE, path: "elements[cluster={{ cluster.name }}].version", create: false, value: "x" }];
  const sample = sampleRun({ spec: sampleRollout({ source, pins }) });
  const { pull: _pull, merged: _merged, ...last } = sample.batches.at(-1) as Batch;
  const batch: Batch = { ...last, phase: "Proposing", targets };
  const [stage, ...stages] = sample.plan.stages.map((one) => ({ ...one, batches: [], requeuedTargets: [] }));
  const plan = { ...sample.plan, stages: [{ ...stage, batches: [{ clusters: [], targets }] }, ...stages] } as Plan;
  return { context, run: { ...sample, plan, batches: [batch] }, batch, base: (await mirror.head("main")) ?? "" };
}

/** What the guard says of a batch for payments-us-1. */
async function guarded(world: World): Promise<unknown> {
  const { context, run, batch, base } = await begin(world);
  const head = (await openBatchCommits(context, memory.commits, memory.remote).build(run, batch, base)) ?? "";
  const guard = await openGuard(context, memory.commits)(run, batch, { base, baseBranch: "main", head });
  return guard.ok ? "ok" : guard.why;
}

describe("the sets of generated Applications that a selector takes", () => {
  test("let a batch pass that changes its own Application alone", async () => {
    expect(await guarded({})).toBe("ok");
  });

  test("refuse one by which another Application changes, whether or not the selector takes that", async () => {
    const sets = { [FILE]: [setOf("payments", [{ list: { elements: elementsOf() } }], "v1.4.1")] };
    const edit = { path: "spec.template.spec.source.targetRevision" };
    expect(await guarded({ sets, edit })).toMatchObject({ code: "GUARD_CHANGES", application: "payments-eu-1" });
    const applications = [made("payments", "us-1"), made("payments", "eu-1", {})];
    expect(await guarded({ sets, edit, applications })).toMatchObject({ code: "GUARD_CHANGES", application: "payments-eu-1" });
  });

  test("refuse one by which Argo CD would delete", async () => {
    const selector = { matchLabels: { version: "v1.4.1" } };
    const sets = { [FILE]: [setOf("payments", [{ list: { elements: elementsOf() }, selector }])] };
    expect(await guarded({ sets })).toMatchObject({ code: "GUARD_DELETES", applications: ["payments-us-1"] });
  });

  test("are all guarded: what one set's batch changes of another is refused", async () => {
    const files = { "env/us.yaml": "cluster: us-1\nversion: v1.4.1\n" };
    const git = (name: string) => setOf(name, [{ git: { repoURL: URL, revision: "main", files: [{ path: "env/*.yaml" }] } }]);
    const edit = { file: "env/us.yaml", path: "version" };
    const sets = { [FILE]: [git("payments")], "appsets/ledger.yaml": [git("ledger")] };
    const applications = [made("payments", "us-1"), made("ledger", "us-1")];
    expect(await guarded({ files, edit, sets: { [FILE]: [git("payments")] }, applications: [made("payments", "us-1")] })).toBe("ok");
    expect(await guarded({ files, edit, sets, applications })).toMatchObject({ code: "GUARD_CHANGES", application: "ledger-us-1" });
  });

  test("one that stands in the edited file is guarded, though none of its Applications is selected", async () => {
    const sets = { [FILE]: [setOf("ledger"), setOf("payments")] };
    const applications = [made("payments", "us-1"), made("payments", "eu-1"), made("ledger", "us-1", {}), made("ledger", "eu-1", {})];
    expect(await guarded({ sets, applications, edit: { path: `#2/${AT}` } })).toBe("ok");
    expect(await guarded({ sets, applications, edit: { path: `#1/${AT}` } })).toMatchObject({
      code: "GUARD_CHANGES",
      application: "ledger-us-1",
    });
  });

  test("refuse where no file declares one, as ever, unless unverified", async () => {
    const world = { sets: {}, elsewhere: [setOf("payments")], files: { "values/us.yaml": "tag: v1.4.1\n" } };
    const edit = { file: "values/us.yaml", path: "tag" };
    expect(await guarded({ ...world, edit })).toMatchObject({ code: "GUARD_UNDECLARED", set: "argocd/payments" });
    expect(await guarded({ ...world, edit, source: { unverified: true } })).not.toMatchObject({ code: "GUARD_UNDECLARED" });
  });

  test("tell what a commit says of their Applications", async () => {
    const { context, run, base } = await begin({});
    const specs = await openRenderer(context, memory.commits)(run, "main")(base);
    expect(specs?.get("hub")?.get("payments-us-1")?.sources[0]?.targetRevision).toBe("v1.4.1");
  });
});

const LEDGER = "appsets/ledger.yaml";
const BOTH = { [FILE]: [setOf("payments")], [LEDGER]: [setOf("ledger")] };
const MADE = ["payments", "ledger"].flatMap((set) => ["us-1", "eu-1"].map((cluster) => made(set, cluster)));
const TEAM = { team: "shop" };

describe("several sets that a rollout is about", () => {
  const byName: Partial<SourceRef> = { kind: "ApplicationSet", names: ["payments", "ledger"], selector: undefined };
  const byLabels: Partial<SourceRef> = { kind: "ApplicationSet", selector: { matchLabels: TEAM, matchExpressions: [] } };
  const team = { [FILE]: [labelled(setOf("payments"), TEAM)], [LEDGER]: [labelled(setOf("ledger"), TEAM)] };
  const fixed = { ...team, [FILE]: [labelled(setOf("payments", [{ list: { elements: elementsOf() } }], "v1.4.1"), TEAM)] };

  test.each([
    ["by name", byName],
    ["by a label of theirs", byLabels],
  ])("%s let a batch pass that changes its own Application alone, and none that changes another's", async (_, source) => {
    const world = { sets: team, applications: MADE, source };
    expect(await guarded(world)).toBe("ok");
    expect(await guarded({ ...world, edit: { file: LEDGER } })).toMatchObject({ code: "GUARD_CHANGES", application: "ledger-us-1" });
    const all = { path: "spec.template.spec.source.targetRevision" };
    expect(await guarded({ ...world, sets: fixed, edit: all })).toMatchObject({ code: "GUARD_CHANGES", application: "payments-eu-1" });
  });

  test("are guarded, too, where one has no Application yet and is written into", async () => {
    const selector = { matchLabels: { version: "v1.4.2" } };
    const sets = { [FILE]: [setOf("payments"), setOf("ledger", [{ list: { elements: elementsOf() }, selector }])] };
    const applications = MADE.slice(0, 2);
    expect(await guarded({ sets, applications, source: byName, edit: { path: `#1/${AT}` } })).toBe("ok");
    expect(await guarded({ sets, applications, source: byName, edit: { path: `#2/${AT}` } })).toMatchObject({
      code: "GUARD_CREATES",
      applications: ["ledger-us-1"],
    });
  });

  test("of which one is nowhere to be seen let nothing pass", async () => {
    const source = { ...byName, names: ["payments", "gone"] };
    expect(await guarded({ sets: BOTH, applications: MADE, source })).toMatchObject({ code: "GUARD_UNDECLARED", set: "argocd/gone" });
  });

  test("that make the same Application are refused: a change to one of them would not reach it", async () => {
    const twin = setOf("ledger");
    (twin["spec"] as { template: Data }).template["metadata"] = { name: "payments-{{cluster}}" };
    const sets = { ...BOTH, [LEDGER]: [twin] };
    expect(await guarded({ sets, applications: MADE.slice(0, 2), source: byName })).toMatchObject({
      ...{ code: "GUARD_TWICE", application: "payments-us-1", sets: ["ledger", "payments"] },
    });
  });

  test("keep their guard where one has lost the label mid-run", async () => {
    const selector = { matchLabels: { version: "v1.4.1" } };
    const files = { "env/us.yaml": "cluster: us-1\nversion: v1.4.1\n" };
    const generators = [{ git: { repoURL: URL, revision: "main", files: [{ path: "env/*.yaml" }] }, selector }];
    const sets = { ...team, [FILE]: [setOf("payments", generators)] };
    const edit = { file: "env/us.yaml", path: "version" };
    expect(await guarded({ files, sets, applications: MADE, source: byLabels, edit })).toMatchObject({
      ...{ code: "GUARD_DELETES", applications: ["payments-us-1"] },
    });
  });
});

/** What is said of a PR that gives these clusters the version v2 in the set's file. */
async function unstaged(
  versions: Record<string, string>,
  applications?: ApplicationView[],
  world: World = {},
): Promise<string | undefined> {
  const { context, run, base } = await begin(applications === undefined ? world : { ...world, applications });
  repo.commitFiles({ [FILE]: stringify(setOf("payments", [{ list: { elements: elementsOf(versions) } }])) });
  await mirror.fetch(["main"]);
  const before = memory.commits.snapshot(base);
  const after = memory.commits.snapshot((await mirror.head("main")) ?? "");
  const rollout: Rollout = { ...run.spec, release: { kind: "version", version: "v1.4.2", attempt: 1 } };
  const sets = setsOfSource(context.planes, rollout).map(({ ref }) => ref);
  const touches = await touchesOf({ ...rollout, pins: [] }, sets, [FILE], before, after);
  expect(touches).toMatchObject({ pins: false, set: true });
  const judge = openUnstagedJudge(context, async () => ({ ok: false, retry: false, problems: [] }));
  const pull = { touched: [FILE] } as unknown as JudgedPull;
  const question = { base: { branch: "main" } as PlanBase, pull, before, after, touches, isRelease: false, plan: run.plan };
  return (await judge(rollout, run.release, question))?.line;
}

describe("a PR that touches the set of generated Applications that a selector takes", () => {
  test("is UNSTAGED where one of them would change or go", async () => {
    expect(await unstaged({ "us-1": "v2", "eu-1": "v1.4.1" })).toMatch(/payments-us-1/);
    expect(await unstaged({ "eu-1": "v1.4.1" })).toMatch(/payments-us-1/);
  });

  test("is not for one that the selector leaves out", async () => {
    const applications = [made("payments", "us-1"), made("payments", "eu-1", {})];
    expect(await unstaged({ "us-1": "v1.4.1", "eu-1": "v2" }, applications)).toBeUndefined();
  });
});

test("a PR that touches one of several sets is UNSTAGED by what it changes of that one", async () => {
  const world: World = { source: { kind: "ApplicationSet", names: ["payments", "ledger"], selector: undefined }, sets: BOTH };
  expect(await unstaged({ "us-1": "v2", "eu-1": "v1.4.1" }, MADE, world)).toMatch(/payments-us-1/);
  expect(await unstaged({ "us-1": "v1.4.1", "eu-1": "v1.4.1" }, MADE, world)).toBeUndefined();
});
