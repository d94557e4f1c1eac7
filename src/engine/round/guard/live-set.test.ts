import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { batchTarget, sampleRollout, sampleRun } from "../../../../test/support/sample-run.ts";
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import { type Workspace, workspace } from "../../../adapters/git/testing/repositories.ts";
import type { ApplicationSetView, ApplicationView, ClusterView } from "../../../core/argocd/views.ts";
import type { Batch } from "../../../core/run/state/run.ts";
import { fastClock } from "../../../sim/clock.ts";
import { openRenderer } from "../../config-repo/rendered.ts";
import { partsOf } from "../../testing/parts.ts";
import { openBatchCommits } from "../act/batch-commit.ts";
import { type RepoContext, silentLog } from "../context.ts";
import { openGuard } from "./guard.ts";

const URL = "https://github.example/org/config";
const BASE = "appsets/payments.yaml";

/** The set as it stands in the base; `patched` as a kustomization of its own makes it. */
function setText({ name = "payments", project = "default", versions = {} as Record<string, string>, more = "" } = {}): string {
  const elements = ["eu-1", "us-1"].map((c) => `          - { cluster: ${c}, targetRevision: ${versions[c] ?? "v1.4.1"} }\n`).join("");
  return `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: ${name}, namespace: argocd }
spec:
  generators:
    - list:
        elements:
${more}${elements}  template:
    metadata: { name: "payments-{{cluster}}" }
    spec:
      project: ${project}
      source: { repoURL: ${URL}, path: apps/payments, targetRevision: "{{targetRevision}}" }
      destination: { name: "{{cluster}}", namespace: payments }
`;
}

const US = "spec.generators[0].matrix.generators[1].list.elements[cluster=us-1].targetRevision";
const OVERLAY = "resources: [../../appsets/payments.yaml]\npatches:\n  - path: project.yaml\n    target: { kind: ApplicationSet }\n";
const KUSTOMIZED = { [BASE]: setText(), "hubs/eu/kustomization.yaml": OVERLAY, "hubs/eu/project.yaml": "- { op: replace }\n" };
const PATCHED = setText({ project: "payments" });

let repo: Workspace;
let mirror: Mirror;

afterEach(async () => {
  await mirror.close();
  repo.remove();
});

interface World {
  files: Record<string, string>;
  /** Text of the set as it lives; undefined: there is none. */
  live?: string;
  unverified?: boolean;
  applications?: Partial<ApplicationView>[];
  edits?: Batch["targets"][number]["edits"];
  clusters?: ClusterView[];
}

async function world({ files, live, unverified = false, applications = [], edits, clusters = [] }: World) {
  repo = workspace(files);
  mirror = await openMirror({ directory: join(repo.directory, "mirror"), url: repo.origin, allowFile: true });
  await mirror.fetch(["main"]);
  const { commits, remote } = partsOf({ mirror });
  const spec = live === undefined ? undefined : (parse(live) as { spec: Record<string, unknown> }).spec;
  const plane = {
    name: "hub",
    state: () => ({ fresh: true, since: "2026-11-21T09:00:00.000Z" }),
    applicationSet: () => (spec === undefined ? undefined : ({ resourceVersion: "1", spec } as ApplicationSetView)),
    applications: () => applications as ApplicationView[],
    application: () => undefined,
    clusters: () => clusters,
  } as unknown as ControlPlane;
  const author = { name: "Bot", email: "b@example.com" };
  const parts = { mirror, clock: fastClock(), planes: new Map([["hub", plane]]), log: silentLog, repoURL: URL, author };
  const context = parts as unknown as RepoContext;
  const target = { ...batchTarget("us-1", "Pending") };
  const targets = [{ ...target, edits: edits ?? target.edits.map((edit) => ({ ...edit, file: BASE })) }];
  const source = { ...sampleRollout().source, controlPlanes: ["hub"], unverified };
  const sample = sampleRun({ spec: sampleRollout({ source }) });
  const stages = sample.plan.stages.map((stage) => ({ ...stage, batches: [{ clusters: [], targets }], requeuedTargets: [] }));
  const { pull: _pull, merged: _merged, ...last } = sample.batches.at(-1) as Batch;
  const batch: Batch = { ...last, phase: "Proposing", targets };
  const run = { ...sample, plan: { ...sample.plan, stages }, batches: [batch] };
  const base = (await mirror.head("main")) ?? "";
  const head = (await openBatchCommits(context, commits, remote).build(run, batch, base)) ?? "";
  const specs = async (commit: string) => (await openRenderer(context, commits)(run, "main")(commit))?.get("hub");
  return { guard: () => openGuard(context, commits)(run, batch, { base, baseBranch: "main", head }), base, head, specs };
}

const judge = async (given: World) => (await world(given)).guard();

describe("a set that kustomize patches", () => {
  test("is proposed, judged by the live set: it is not called not Git's yet for ever", async () => {
    expect(await judge({ files: KUSTOMIZED, live: PATCHED })).toMatchObject({ ok: true });
  });

  test("is rendered for liveness as it lives, with the pins of the commit", async () => {
    const { specs, base, head } = await world({ files: KUSTOMIZED, live: PATCHED });
    const told = async (commit: string) => {
      const found = await specs(commit);
      return [...(found ?? [])].map(([name, { project, sources }]) => [name, project, sources[0]?.targetRevision]);
    };
    expect(await told(base)).toEqual([
      ["payments-eu-1", "payments", "v1.4.1"],
      ["payments-us-1", "payments", "v1.4.1"],
    ]);
    expect(await told(head)).toEqual([
      ["payments-eu-1", "payments", "v1.4.1"],
      ["payments-us-1", "payments", "v1.4.2"],
    ]);
  });

  test("by way of a second kustomization, too", async () => {
    const files = {
      ...KUSTOMIZED,
      "hubs/all/kustomization.yml": "resources: [../eu]\nnamePrefix: x-\n",
      "hubs/eu/kustomization.yaml": "resources:\n- ../../appsets/payments.yaml\n",
    };
    expect(await judge({ files, live: PATCHED })).toMatchObject({ ok: true });
  });

  test("in which the patch puts an element before: the pin is found by its cluster, not by its place", async () => {
    const live = setText({ more: "          - { cluster: ap-1, targetRevision: v1.4.1 }\n" });
    expect(await judge({ files: KUSTOMIZED, live })).toMatchObject({ ok: true });
  });

  test("waits where the live one has another value at a pin: the parent has still to sync, or the patch sets it", async () => {
    const live = setText({ project: "payments", versions: { "us-1": "v9" } });
    expect(await judge({ files: KUSTOMIZED, live })).toMatchObject({
      ok: false,
      retry: true,
      why: { code: "GUARD_PIN_NOT_LIVE", declaredIn: BASE, by: "kustomize", field: "spec.generators[0].list.elements[1].targetRevision" },
    });
  });

  test("waits where the pin is nowhere in the live one", async () => {
    const live = PATCHED.replaceAll("us-1", "us-9");
    expect(await judge({ files: KUSTOMIZED, live })).toMatchObject({ ok: false, why: { code: "GUARD_PIN_NOT_LIVE" } });
  });

  test("is refused where a live Application is not among those that the live set yields", async () => {
    const old = { namespace: "argocd", name: "payments-old", spec: { sources: [] } as unknown as ApplicationView["spec"] };
    expect(await judge({ files: KUSTOMIZED, live: PATCHED, applications: [old] })).toMatchObject({
      ok: false,
      why: { code: "GUARD_LOSES" },
    });
  });

  test("is refused where a pin stands in what it is patched with: nobody can say what comes of that", async () => {
    const edits = [{ kind: "value" as const, file: "hubs/eu/project.yaml", path: "[0].op", from: "replace", to: "add" }];
    const why = { code: "GUARD_SET_MADE", changed: "hubs/eu/project.yaml", by: "kustomize" };
    expect(await judge({ files: KUSTOMIZED, live: PATCHED, edits })).toMatchObject({ ok: false, retry: false, why });
  });

  test("that it renames is found by its pins", async () => {
    const files = { ...KUSTOMIZED, [BASE]: setText({ name: "pay" }) };
    expect(await judge({ files, live: PATCHED })).toMatchObject({ ok: true });
  });
});

describe("a set that nothing in the repo changes on its way", () => {
  const plain = { [BASE]: setText() };
  test("is still waited for until it is Git's", async () => {
    expect(await judge({ files: plain, live: PATCHED })).toMatchObject({ ok: false, retry: true, why: { code: "GUARD_SET_DIFFERS" } });
  });

  test("is judged by the live one with unverified", async () => {
    expect(await judge({ files: plain, live: PATCHED, unverified: true })).toMatchObject({ ok: true });
    const gone = setText({ versions: { "us-1": "v9" } });
    expect(await judge({ files: plain, live: gone, unverified: true })).toMatchObject({ ok: false, why: { code: "GUARD_PIN_NOT_LIVE" } });
  });
});

describe("a set that Helm makes", () => {
  const template = `{{- range .Values.regions }}\n---\n${setText().replace("name: payments,", "name: {{ $.Release.Name }},")}{{- end }}\n`;
  const chart = {
    "chart/Chart.yaml": "name: fleet\nversion: 1.0.0\n",
    "chart/values.yaml": "version: v1.4.1\n",
    "chart/templates/set.yaml": template,
  };
  const at = (file: string, path: string) => [{ kind: "value" as const, file, path, from: "v1.4.1", to: "v1.4.2" }];
  const files = "clusters/*.yaml";
  const byFiles = `spec:
  generators: [{ git: { repoURL: ${URL}, revision: main, files: [{ path: "${files}" }] } }]
  template:
    metadata: { name: "payments-{{cluster}}" }
    spec:
      project: default
      source: { repoURL: ${URL}, path: apps/payments, targetRevision: "{{version}}" }
      destination: { name: "{{cluster}}" }
`;
  const pins = { "clusters/us-1.yaml": "cluster: us-1\nversion: v1.4.1\n", "clusters/eu-1.yaml": "cluster: eu-1\nversion: v1.4.1\n" };

  test("is proposed where its generators read the pins: the live set is rendered before and after", async () => {
    const edits = at("clusters/us-1.yaml", "version");
    expect(await judge({ files: { ...chart, ...pins }, live: byFiles, edits })).toMatchObject({ ok: true });
    const both = [...edits, ...at("clusters/eu-1.yaml", "version")];
    expect(await judge({ files: { ...chart, ...pins }, live: byFiles, edits: both })).toMatchObject({
      ok: false,
      why: { code: "GUARD_CHANGES", application: "payments-eu-1" },
    });
  });

  test("is refused where the pin is one of the chart's values, but with unverified", async () => {
    const given = { files: chart, live: setText(), edits: at("chart/values.yaml", "version") };
    expect(await judge(given)).toMatchObject({
      ok: false,
      retry: false,
      why: { code: "GUARD_SET_MADE", changed: "chart/values.yaml", by: "helm" },
    });
    expect(await judge({ ...given, unverified: true })).toMatchObject({ ok: true });
  });

  test("is refused as undeclared where no chart makes it", async () => {
    const edits = at("clusters/us-1.yaml", "version");
    expect(await judge({ files: pins, live: byFiles, edits })).toMatchObject({
      ok: false,
      retry: false,
      why: { code: "GUARD_UNDECLARED", files: [] },
    });
    expect(await judge({ files: pins, live: byFiles, edits, unverified: true })).toMatchObject({ ok: true });
  });
});

test("annotations of clusters are in what liveness waits for: it does not wait for a template that nobody filled in", async () => {
  const annotated = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: payments, namespace: argocd }
spec:
  goTemplate: true
  goTemplateOptions: ["missingkey=error"]
  generators:
    - matrix:
        generators:
          - clusters: { selector: { matchLabels: { env: prod } } }
          - list: { elements: [{ cluster: eu-1, targetRevision: v1.4.1 }, { cluster: us-1, targetRevision: v1.4.1 }] }
  template:
    metadata: { name: "payments-{{.cluster}}" }
    spec:
      project: "{{.project}}"
      source: { repoURL: ${URL}, path: "{{.metadata.annotations.addons_path}}/payments", targetRevision: "{{.targetRevision}}" }
      destination: { name: "{{.name}}" }
`;
  const annotations = { addons_path: "addons" };
  const clusters: ClusterView[] = [
    { name: "hub", server: "https://hub", labels: { env: "prod" }, annotations, project: "shop", registered: true },
  ];
  const edits = batchTarget("us-1", "Pending").edits.map((edit) => ({ ...edit, file: BASE, path: US }));
  const { guard, specs, head } = await world({ files: { [BASE]: annotated }, live: annotated, clusters, edits });
  expect(await guard()).toMatchObject({ ok: true });
  const [, us] = [...((await specs(head)) ?? [])];
  expect(us).toMatchObject(["payments-us-1", { project: "shop", sources: [{ path: "addons/payments", targetRevision: "v1.4.2" }] }]);
});

describe("several files that declare one set", () => {
  const copies = { [BASE]: setText(), "old/payments.yaml": setText({ project: "old" }) };
  const values = { "apps/payments/us-1.yaml": "tag: v1.4.1\n" };
  const edits = [{ kind: "value" as const, file: "apps/payments/us-1.yaml", path: "tag", from: "v1.4.1", to: "v1.4.2" }];

  test("the one that lives decides, not the first in the order of paths", async () => {
    expect(await judge({ files: { ...copies, ...values }, live: copies["old/payments.yaml"], edits })).toMatchObject({ ok: true });
    expect(await judge({ files: { ...copies, ...values }, live: copies[BASE], edits })).toMatchObject({ ok: true });
  });

  test("are named where neither lives", async () => {
    expect(await judge({ files: { ...copies, ...values }, live: setText({ project: "new" }), edits })).toMatchObject({
      ok: false,
      retry: true,
      why: { code: "GUARD_UNDECLARED", files: [BASE, "old/payments.yaml"] },
    });
  });
});
