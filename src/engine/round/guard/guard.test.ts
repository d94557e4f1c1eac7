import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { batchTarget, sampleRun } from "../../../../test/support/sample-run.ts";
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import { type Workspace, workspace } from "../../../adapters/git/testing/repositories.ts";
import type { ApplicationSetView, ApplicationView } from "../../../core/argocd/views.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import { fastClock } from "../../../sim/clock.ts";
import { type Parts, partsOf } from "../../testing/parts.ts";
import { openBatchCommits } from "../act/batch-commit.ts";
import type { RepoContext } from "../context.ts";
import { headToGuard } from "../observe/observe.ts";
import { openGuard } from "./guard.ts";

const URL = "https://github.example/org/config";

const elements = ["eu-1", "eu-2", "us-1", "us-2"].map((c) => `          - { cluster: ${c}, targetRevision: v1.4.1 }\n`).join("");
const SET = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: payments, namespace: argocd }
spec:
  generators:
    - list:
        elements:
${elements}  template:
    metadata: { name: "payments-{{cluster}}" }
    spec:
      project: default
      source: { repoURL: ${URL}, path: apps/payments, targetRevision: "{{targetRevision}}" }
      destination: { name: "{{cluster}}", namespace: payments }
`;

let repo: Workspace;
let mirror: Mirror;
let memory: Parts;

beforeEach(async () => {
  repo = workspace({ "appsets/payments.yaml": SET });
  mirror = await openMirror({ directory: join(repo.directory, "mirror"), url: repo.origin, allowFile: true });
  memory = partsOf({ mirror });
});

afterEach(async () => {
  await mirror.close();
  repo.remove();
});

/** A control plane that shows these Applications, and the ApplicationSet with this spec. */
function contextWith(spec: Record<string, unknown> | undefined, applications: readonly ApplicationView[] = []): RepoContext {
  const clock = fastClock();
  const plane: Partial<ControlPlane> = {
    name: "hub",
    state: () => ({ fresh: true, since: "2026-11-21T09:00:00.000Z" }),
    applicationSet: () => (spec === undefined ? undefined : ({ resourceVersion: "1", spec } as ApplicationSetView)),
    application: (namespace, name) => applications.find((one) => one.namespace === namespace && one.name === name),
    applications: (owner) => applications.filter((app) => owner === undefined || app.owner?.name === owner.name),
    clusters: () => [],
  };
  const planes = new Map([["hub", plane as ControlPlane]]);
  return { mirror, clock, planes, repoURL: URL, author: { name: "Bot", email: "bot@example.com" } } as unknown as RepoContext;
}

async function unproposed(context: RepoContext, change: Partial<Batch> = {}, of: Partial<Run> = {}) {
  await mirror.fetch(["main"]);
  const base = (await mirror.head("main")) ?? "";
  const sample = sampleRun(of);
  const { pull: _pull, merged: _merged, ...last } = sample.batches.at(-1) as Batch;
  const batch: Batch = { ...last, phase: "Proposing", targets: [batchTarget("us-1", "Pending")], ...change };
  const run = { ...sample, batches: [batch] };
  const head = await headToGuard(openBatchCommits(context, memory.commits, memory.remote), run, batch, null, base);
  return head === undefined ? undefined : openGuard(context, memory.commits)(run, batch, { base, baseBranch: "main", head });
}

async function gitSpec(): Promise<Record<string, unknown>> {
  const { parse } = await import("yaml");
  return parse(SET).spec;
}

describe("a batch without a PR", () => {
  test("is judged on the commit its PR would hold, and nothing is pushed for it", async () => {
    expect(await unproposed(contextWith(await gitSpec()))).toMatchObject({ ok: true });
    expect(await mirror.remoteHeads(["stagecoach-run/payments/42/2-1-1"])).toEqual(new Map());
  });

  test("is refused where the cluster's ApplicationSet is not Git's, with the place", async () => {
    const guard = await unproposed(contextWith({ ...(await gitSpec()), templatePatch: "spec: {}" }));
    expect(guard).toMatchObject({ ok: false, retry: true, why: { code: "GUARD_SET_DIFFERS", field: "spec.templatePatch" } });
  });

  test("so is one whose ApplicationSet stands in JSON, in a file that no pin names", async () => {
    const { parse } = await import("yaml");
    repo.commitFiles({ "appsets/payments.yaml": null, "sets.json": JSON.stringify(parse(SET)), "values/us.yaml": "tag: v1.4.1\n" });
    const edits = [{ kind: "value" as const, file: "values/us.yaml", path: "tag", from: "v1.4.1", to: "v1.4.2" }];
    const targets = [{ ...batchTarget("us-1", "Pending"), edits }];
    const guard = await unproposed(contextWith({ ...(await gitSpec()), templatePatch: "spec: {}" }), { targets });
    expect(guard).toMatchObject({ ok: false, why: { code: "GUARD_SET_DIFFERS", field: "spec.templatePatch" } });
  });

  test("is refused where its merge would take a live Application away", async () => {
    const owner = { kind: "ApplicationSet", name: "payments", uid: "1" };
    const live = { namespace: "argocd", name: "payments-old", owner, spec: { sources: [] } } as unknown as ApplicationView;
    const guard = await unproposed(contextWith(await gitSpec(), [live]));
    expect(guard).toMatchObject({ ok: false, retry: false, why: { code: "GUARD_LOSES", application: "payments-old", plane: "hub" } });
  });

  test("is refused where an Application outside it reads what it changes", async () => {
    repo.commitFiles({ "values/us.yaml": "tag: v1.4.1\n" });
    const edits = [{ kind: "value" as const, file: "values/us.yaml", path: "tag", from: "v1.4.1", to: "v1.4.2" }];
    const sources = [{ repoURL: URL, path: "values" }];
    const ledger = { namespace: "argocd", name: "ledger", spec: { sources } } as unknown as ApplicationView;
    const targets = [{ ...batchTarget("us-1", "Pending"), edits }];
    const guard = await unproposed(contextWith(await gitSpec(), [ledger]), { targets });
    expect(guard).toMatchObject({
      ok: false,
      retry: false,
      why: { code: "GUARD_READ_OUTSIDE", changed: "values/us.yaml", application: "ledger" },
    });
  });

  test("is not judged where it is past that, or its pins are not there: proposing it says so", async () => {
    const context = contextWith(await gitSpec());
    expect(await unproposed(context, { phase: "Open" })).toBeUndefined();
    expect(await unproposed(context, { targets: [batchTarget("ap-9", "Pending")] })).toBeUndefined();
  });
});
