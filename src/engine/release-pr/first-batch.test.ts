import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { batchTarget, sampleRollout, sampleRun } from "../../../test/support/sample-run.ts";
import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { openMirror } from "../../adapters/git/mirror.ts";
import type { Mirror } from "../../adapters/git/port.ts";
import { type Workspace, workspace } from "../../adapters/git/testing/repositories.ts";
import type { ApplicationView, ClusterView } from "../../core/argocd/views.ts";
import { fastClock } from "../../sim/clock.ts";
import { silentLog } from "../round/context.ts";
import { partsOf } from "../testing/parts.ts";
import { refusedBatch } from "./first-batch.ts";

const URL = "https://github.example/org/config";
const FILE = "appsets/payments.yaml";

function setText(elements: string, more = ""): string {
  return `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: payments, namespace: argocd }
spec:
  generators:
    - list: { elements: [${elements}] }
${more}  template:
    metadata: { name: "payments-{{cluster}}" }
    spec:
      project: default
      source: { repoURL: ${URL}, path: apps/payments, targetRevision: "{{targetRevision}}" }
      destination: { name: "{{cluster}}" }
`;
}

const LIST = "{ cluster: us-1, targetRevision: v1.4.1 }, { cluster: eu-1, targetRevision: v1.4.1 }";
const GIT = setText(LIST);

let repo: Workspace;
let mirror: Mirror;

afterEach(async () => {
  await mirror.close();
  repo.remove();
});

interface World {
  git?: string;
  live?: string | undefined;
  clusters?: ClusterView[];
  applications?: Partial<ApplicationView>[];
  generate?: ControlPlane["generate"];
  path?: string;
  touchesSet?: boolean;
  /** What the repo holds instead of the set's manifest. */
  files?: Record<string, string>;
  pinned?: string;
}

async function refused({
  git = GIT,
  clusters = [],
  applications = [],
  generate,
  path,
  touchesSet = false,
  files = { [FILE]: git },
  ...world
}: World) {
  repo = workspace(files);
  mirror = await openMirror({ directory: join(repo.directory, "mirror"), url: repo.origin, allowFile: true });
  await mirror.fetch(["main"]);
  const live = "live" in world ? world.live : git;
  const spec = live === undefined ? undefined : (parse(live) as { spec: unknown }).spec;
  const plane = {
    name: "hub",
    state: () => ({ fresh: true, since: "2026-11-21T09:00:00.000Z" }),
    applicationSet: () => (spec === undefined ? undefined : { resourceVersion: "1", spec }),
    applications: () => applications,
    application: () => undefined,
    clusters: () => clusters,
    ...(generate === undefined ? {} : { generate }),
  } as unknown as ControlPlane;
  const context = { planes: new Map([["hub", plane]]), clock: fastClock(), log: silentLog, repoURL: URL };
  const rollout = sampleRollout({ source: { ...sampleRollout().source, controlPlanes: ["hub"] } });
  const target = batchTarget("us-1", "Pending");
  const edits = target.edits.map((edit) => ({ ...edit, file: world.pinned ?? FILE, ...(path === undefined ? {} : { path }) }));
  const { plan } = sampleRun();
  const stages = plan.stages.map((stage) => ({
    ...stage,
    batches: [{ clusters: [], targets: [{ ...target, edits }] }],
    requeuedTargets: [],
  }));
  const snapshot = partsOf({ mirror }).commits.snapshot((await mirror.head("main")) ?? "");
  const asked = { rollout, plan: { ...plan, stages }, snapshot, baseBranch: "main", touchesSet };
  return refusedBatch(context, asked);
}

const BY_LABEL = '    - clusters: { selector: { matchLabels: { env: prod } }, values: { cluster: "{{name}}" } }\n';

describe("what the bot would refuse at the first batch is said of the plan", () => {
  test("nothing of one that it would propose", async () => {
    expect(await refused({})).toBeUndefined();
  });

  test("labels and annotations of clusters that it cannot see, with what to switch on", async () => {
    const clusters: ClusterView[] = [{ name: "us-1", server: "", labels: {}, registered: true, derived: "name" }];
    const told = await refused({ git: setText(LIST, BY_LABEL), clusters });
    expect(told).toMatchObject({ code: "BATCH_REFUSED", severity: "error", applications: ["payments-us-1"] });
    expect(told).toHaveProperty("said", expect.stringContaining("`clusterSecrets: true`"));
  });

  test("but not where Argo CD may render it when it comes to it", async () => {
    const generate: ControlPlane["generate"] = async () => ({ kind: "done", applications: [] });
    const git = setText(LIST, "    - plugin: { configMapRef: { name: ours } }\n");
    expect(await refused({ git })).toMatchObject({ code: "BATCH_REFUSED", severity: "error" });
    expect(await refused({ git, generate })).toBeUndefined();
  });

  test("a pin in the values of the chart that makes the set, with what to pin instead", async () => {
    const template = GIT.replace("name: payments,", "name: {{ .Release.Name }},");
    const values = "image: { tag: v1.4.1 }\n";
    const files = { "fleet/Chart.yaml": "name: fleet\n", "fleet/values.yaml": values, "fleet/templates/set.yaml": template };
    const told = await refused({ files, pinned: "fleet/values.yaml", path: "image.tag" });
    expect(told).toMatchObject({ code: "BATCH_REFUSED", severity: "error", said: expect.stringContaining("generators") });
  });

  test("a live Application that the set does not yield", async () => {
    const old = { namespace: "argocd", name: "payments-old", spec: { sources: [] } as unknown as ApplicationView["spec"] };
    expect(await refused({ applications: [old] })).toMatchObject({ code: "BATCH_REFUSED", severity: "error" });
  });

  test("a set that is not Git's yet, as a warning, and not where the PR itself changes the set", async () => {
    const live = setText(LIST).replace("project: default", "project: old");
    expect(await refused({ live })).toMatchObject({ code: "BATCH_REFUSED", severity: "warning" });
    expect(await refused({ live, touchesSet: true })).toBeUndefined();
    expect(await refused({ live: undefined })).toMatchObject({ severity: "warning", said: expect.stringMatching(/ApplicationSet .* hub/) });
  });
});
