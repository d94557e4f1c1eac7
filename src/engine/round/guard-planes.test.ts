import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { batchTarget, sampleRollout, sampleRun } from "../../../test/support/sample-run.ts";
import type { ControlPlane, GenerateOutcome } from "../../adapters/argocd/port.ts";
import { openMirror } from "../../adapters/git/mirror.ts";
import type { Mirror } from "../../adapters/git/port.ts";
import { type Workspace, workspace } from "../../adapters/git/testing/repositories.ts";
import type { ApplicationSetView } from "../../core/argocd/views.ts";
import { said } from "../../core/reasons/run.ts";
import type { Batch, Run } from "../../core/run/state/run.ts";
import { fastClock } from "../../sim/clock.ts";
import { pinFilesOf, setsByPlane } from "../config-repo/plane-sets.ts";
import { lostPlanes } from "../resolve/fleet.ts";
import { type Parts, partsOf } from "../testing/parts.ts";
import { openBatchCommits } from "./act/batch-commit.ts";
import { type RepoContext, silentLog } from "./context.ts";
import { openGuard } from "./guard/guard.ts";

const URL = "https://github.example/org/config";

function setOf(clusters: readonly string[], generator = "list"): string {
  const elements = clusters.map((c) => `          - { cluster: ${c}, targetRevision: v1.4.1 }\n`).join("");
  const more = generator === "list" ? "" : "    - plugin: { configMapRef: { name: ours } }\n";
  return `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: payments, namespace: argocd }
spec:
  generators:
    - list:
        elements:
${elements}${more}  template:
    metadata: { name: "payments-{{cluster}}" }
    spec:
      project: default
      source: { repoURL: ${URL}, path: apps/payments, targetRevision: "{{targetRevision}}" }
      destination: { name: "{{cluster}}", namespace: payments }
`;
}

let repo: Workspace;
let mirror: Mirror;
let memory: Parts;

async function begin(files: Record<string, string>): Promise<void> {
  repo = workspace(files);
  mirror = await openMirror({ directory: join(repo.directory, "mirror"), url: repo.origin, allowFile: true });
  memory = partsOf({ mirror });
  await mirror.fetch(["main"]);
}

afterEach(async () => {
  await mirror.close();
  repo.remove();
});

interface Hub {
  name: string;
  /** Text of the set in it; undefined: none. */
  set?: string;
  fresh?: () => boolean;
  generate?: (set: Record<string, unknown>) => Promise<GenerateOutcome>;
}

function hub({ name, set, fresh = () => true, generate }: Hub): ControlPlane {
  const spec = set === undefined ? undefined : (parse(set) as { spec: Record<string, unknown> }).spec;
  const plane: Partial<ControlPlane> = {
    name,
    state: () => ({
      fresh: fresh(),
      since: "2026-11-21T09:00:00.000Z",
      ...(fresh() ? {} : { why: said("forbidden; grant list on applications") }),
    }),
    applicationSet: () => (spec === undefined ? undefined : ({ resourceVersion: "1", spec } as ApplicationSetView)),
    applications: () => [],
    application: () => undefined,
    clusters: () => [],
    ...(generate === undefined ? {} : { generate }),
  };
  return plane as ControlPlane;
}

function contextOf(hubs: readonly ControlPlane[]): RepoContext {
  const planes = new Map(hubs.map((one) => [one.name, one]));
  return {
    mirror,
    clock: fastClock(),
    planes,
    log: silentLog,
    repoURL: URL,
    author: { name: "Bot", email: "b@example.com" },
  } as unknown as RepoContext;
}

/** A target on a plane, pinned in the list of a file. */
function target(plane: string, cluster: string, file: string) {
  const one = batchTarget(cluster, "Pending");
  const edits = one.edits.map((edit) => ({ ...edit, file }));
  return { ...one, key: `${plane}/argocd/payments-${cluster}`, cluster: `${plane}/${cluster}`, edits };
}

async function judge(context: RepoContext, targets: Batch["targets"], planes: string[], unverified = false) {
  const base = (await mirror.head("main")) ?? "";
  const source = { ...sampleRollout().source, controlPlanes: planes, unverified };
  const sample = sampleRun({ spec: sampleRollout({ source }) });
  const stages = sample.plan.stages.map((stage) => ({ ...stage, batches: [{ clusters: [], targets }], requeuedTargets: [] }));
  const { pull: _pull, merged: _merged, ...last } = sample.batches.at(-1) as Batch;
  const batch: Batch = { ...last, phase: "Proposing", targets };
  const run: Run = { ...sample, plan: { ...sample.plan, stages }, batches: [batch] };
  const head = (await openBatchCommits(context, memory.commits, memory.remote).build(run, batch, base)) ?? "";
  return openGuard(context, memory.commits)(run, batch, { base, baseBranch: "main", head });
}

const EU = "hubs/eu/payments.yaml";
const US = "hubs/us/payments.yaml";
const NAMES = ["hub-eu", "hub-us"];

describe("a rollout over two control planes with a manifest each", () => {
  const [eu, us] = [setOf(["eu-1", "shared"]), setOf(["us-1", "shared"])];
  beforeEach(() => begin({ [EU]: eu, [US]: us }));

  test("each plane is judged by its own manifest", async () => {
    const context = contextOf([hub({ name: "hub-eu", set: eu }), hub({ name: "hub-us", set: us })]);
    expect(await judge(context, [target("hub-us", "us-1", US)], NAMES)).toMatchObject({ ok: true });
    expect(await judge(context, [target("hub-eu", "eu-1", EU), target("hub-us", "us-1", US)], NAMES)).toMatchObject({ ok: true });
  });

  test("an Application of the same name on the other plane stays as it is", async () => {
    const context = contextOf([hub({ name: "hub-eu", set: eu }), hub({ name: "hub-us", set: us })]);
    expect(await judge(context, [target("hub-us", "shared", US)], NAMES)).toMatchObject({ ok: true });
  });

  test("a plane whose live set is neither is named", async () => {
    const context = contextOf([hub({ name: "hub-eu", set: eu }), hub({ name: "hub-us", set: setOf(["other"]) })]);
    const guard = await judge(context, [target("hub-eu", "eu-1", EU)], NAMES);
    expect(guard).toMatchObject({ ok: false, why: { code: "GUARD_UNDECLARED", set: "argocd/payments", plane: "hub-us", files: [EU, US] } });
  });

  test("which manifest is whose is told by where its targets are pinned, whatever lives in it", async () => {
    const planes = [hub({ name: "hub-eu" }), hub({ name: "hub-us", set: setOf(["other"]) })];
    const snapshot = memory.commits.snapshot((await mirror.head("main")) ?? "");
    const plan = {
      ...sampleRun().plan,
      stages: sampleRun().plan.stages.map((stage) => ({
        ...stage,
        batches: [{ clusters: [], targets: [target("hub-us", "us-1", US)] }],
        requeuedTargets: [],
      })),
    };
    const ref = { name: "payments", namespace: "argocd" };
    const sets = await setsByPlane(snapshot, { ref, likely: [], planes, pinned: pinFilesOf(plan), edits: [] });
    expect([...sets].map(([plane, { file }]) => [plane, file])).toEqual([["hub-us", US]]);
  });

  test("a lost plane holds a batch with targets on it, with since when and what to grant; one on others goes by what was last read of it", async () => {
    let up = true;
    const planes = [hub({ name: "hub-eu", set: eu, fresh: () => up }), hub({ name: "hub-us", set: us })];
    lostPlanes(planes);
    up = false;
    const context = contextOf(planes);
    const why = { code: "CONTROL_PLANE_UNSEEN", plane: "hub-eu", since: "2026-11-21T09:00:00.000Z" };
    expect(await judge(context, [target("hub-eu", "eu-1", EU)], NAMES)).toMatchObject({ ok: false, retry: true, why });
    expect(await judge(context, [target("hub-us", "us-1", US)], NAMES)).toMatchObject({ ok: true });
  });

  test("a plane that was never read holds every batch: nobody knows what of it would be touched", async () => {
    const context = contextOf([hub({ name: "hub-eu", set: eu, fresh: () => false }), hub({ name: "hub-us", set: us })]);
    expect(await judge(context, [target("hub-us", "us-1", US)], NAMES)).toMatchObject({ ok: false, retry: true });
  });
});

test("where both planes follow one manifest, a change that both would make is of a batch with both only", async () => {
  const set = setOf(["shared"]);
  await begin({ [EU]: set });
  const context = contextOf(NAMES.map((name) => hub({ name, set })));
  const why = { code: "GUARD_CHANGES", application: "payments-shared" };
  expect(await judge(context, [target("hub-us", "shared", EU)], NAMES)).toMatchObject({ ok: false, why });
  expect(await judge(context, [target("hub-us", "shared", EU), target("hub-eu", "shared", EU)], NAMES)).toMatchObject({ ok: true });
});

describe("what cannot be rendered offline", () => {
  const set = setOf(["eu-1", "us-1"], "plugin");
  const file = "appsets/payments.yaml";
  beforeEach(() => begin({ [file]: set }));

  /** Yields the list's elements, as Argo CD does with whatever the plugin adds; `drop` is left out once the release is there. */
  function generating(drop: readonly string[], asked: Record<string, unknown>[] = []): Hub["generate"] {
    return async (object) => {
      asked.push(object);
      const { generators } = object["spec"] as { generators: { list?: { elements: Record<string, string>[] } }[] };
      const elements = generators[0]?.list?.elements ?? [];
      const released = elements.some((one) => one["targetRevision"] === "v1.4.2");
      const kept = elements.filter((one) => !released || !drop.includes(one["cluster"] ?? ""));
      const applications = kept.map((one) => ({
        metadata: { name: `payments-${one["cluster"]}` },
        spec: { project: "default", source: { targetRevision: one["targetRevision"] } },
      }));
      return { kind: "done", applications };
    };
  }

  const mine = () => [target("hub", "us-1", file)];

  test("is generated by Argo CD at the base and with the change, and judged as ever", async () => {
    const asked: Record<string, unknown>[] = [];
    const generate = generating([], asked);
    const context = contextOf([hub({ name: "hub", set, ...(generate === undefined ? {} : { generate }) })]);
    expect(await judge(context, mine(), [])).toMatchObject({ ok: true });
    expect(asked.map((one) => JSON.stringify(one).includes("v1.4.2"))).toEqual([false, true]);
    expect(asked[0]?.["metadata"]).toMatchObject({ name: "payments", namespace: "argocd" });
  });

  test("is refused where Argo CD would delete by it", async () => {
    const generate = generating(["eu-1"]);
    const context = contextOf([hub({ name: "hub", set, ...(generate === undefined ? {} : { generate }) })]);
    expect(await judge(context, mine(), [])).toMatchObject({
      ok: false,
      retry: false,
      why: { code: "GUARD_DELETES", applications: ["payments-eu-1"] },
    });
  });

  test("without either it is refused, with what to grant; unverified goes on without that check", async () => {
    const context = contextOf([hub({ name: "hub", set })]);
    const guard = await judge(context, mine(), []);
    expect(guard).toMatchObject({
      ok: false,
      retry: false,
      why: {
        code: "GUARD_UNRENDERED",
        problem: { code: "UNSUPPORTED_GENERATOR", generator: "plugin" },
        because: { code: "GENERATE_NOT_ALLOWED", plane: "hub" },
      },
    });
    expect(await judge(context, mine(), [], true)).toMatchObject({ ok: true });
  });

  test("an Argo CD that may not be asked refuses it, one that could not holds it", async () => {
    const forbidden = hub({
      name: "hub",
      set,
      generate: async () => ({ kind: "forbidden", why: said("permission denied: applicationsets, create") }),
    });
    expect(await judge(contextOf([forbidden]), mine(), [])).toMatchObject({
      ok: false,
      retry: false,
      why: { because: { code: "GENERATE_FAILED", forbidden: true, because: said("permission denied: applicationsets, create") } },
    });
    const failing = hub({ name: "hub", set, generate: async () => ({ kind: "failed", why: said("plugin ours: no answer") }) });
    expect(await judge(contextOf([failing]), mine(), [])).toMatchObject({
      ok: false,
      retry: true,
      why: { because: { code: "GENERATE_FAILED", forbidden: false, because: said("plugin ours: no answer") } },
    });
  });
});
