import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { batchTarget, sampleRollout, sampleRun } from "../../../../test/support/sample-run.ts";
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import { type Workspace, workspace } from "../../../adapters/git/testing/repositories.ts";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { ApplicationSetView } from "../../../core/argocd/views.ts";
import type { Edit } from "../../../core/plan/plan-types.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import { fastClock } from "../../../sim/clock.ts";
import { partsOf } from "../../testing/parts.ts";
import { openBatchCommits } from "../act/batch-commit.ts";
import type { RepoContext } from "../context.ts";
import { headToGuard } from "../observe/observe.ts";
import { openGuard } from "./guard.ts";

const URL = "https://github.example/org/config";
const SET = "appsets/payments.yaml";
const PATHS = "argocd.argoproj.io/manifest-generate-paths";

type Data = Record<string, unknown>;

interface World {
  generators?: unknown[];
  source?: Data;
  annotations?: Data;
  /** Of the live Application alone. */
  live?: Data;
  spec?: Data;
  files?: Record<string, string>;
  edits?: Partial<Edit>[];
  batch?: Partial<Batch>;
  run?: Partial<Run>;
}

let repo: Workspace;
let mirror: Mirror;

beforeEach(async () => {
  repo = workspace({ "README.md": "config\n" });
  mirror = await openMirror({ directory: join(repo.directory, "mirror"), url: repo.origin, allowFile: true });
});

afterEach(async () => {
  await mirror.close();
  repo.remove();
});

const list = { list: { elements: [{ cluster: "us-1", version: "v1.4.1" }] } };
const AT_LIST = "spec.generators[0].list.elements[cluster=us-1].version";

/** What the guard says of a batch for us-1 that is not proposed yet. */
async function guarded(world: World): Promise<unknown> {
  const source = { repoURL: URL, path: "apps/payments", targetRevision: "main", ...world.source };
  const set = {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "ApplicationSet",
    metadata: { name: "payments", namespace: "argocd" },
    spec: {
      generators: world.generators ?? [list],
      template: {
        metadata: { name: "payments-us-1", annotations: world.annotations ?? {} },
        spec: { project: "default", source, destination: { name: "us-1", namespace: "payments" } },
      },
      ...world.spec,
    },
  };
  repo.commitFiles({ [SET]: stringify(set), ...world.files });
  await mirror.fetch(["main"]);
  const base = (await mirror.head("main")) ?? "";
  const live = decodeApplication(
    {
      metadata: { name: "payments-us-1", namespace: "argocd", annotations: world.live ?? world.annotations },
      spec: { ...set.spec.template.spec, source: world.source === undefined ? source : parse(stringify(source)) },
    },
    0,
  );
  if (live !== undefined) live.owner = { kind: "ApplicationSet", name: "payments", uid: "1" };
  const plane: Partial<ControlPlane> = {
    name: "hub",
    state: () => ({ fresh: true, since: "2026-11-21T09:00:00.000Z" }),
    applicationSet: () => ({ resourceVersion: "1", spec: set.spec }) as unknown as ApplicationSetView,
    applications: () => (live === undefined ? [] : [live]),
    application: () => live,
    clusters: () => [],
  };
  const context = { mirror, clock: fastClock(), planes: new Map([["hub", plane]]), repoURL: URL, author: { name: "Bot", email: "b@x.y" } };
  const sample = sampleRun({ spec: sampleRollout(), ...world.run });
  const { pull: _pull, merged: _merged, ...last } = sample.batches.at(-1) as Batch;
  const edit: Edit = { kind: "value", file: SET, path: AT_LIST, from: "v1.4.1", to: "v1.4.2" };
  const edits = (world.edits ?? [{}]).map((change) => ({ ...edit, ...change }));
  const batch: Batch = { ...last, phase: "Proposing", targets: [{ ...batchTarget("us-1", "Pending"), edits }], ...world.batch };
  const run = { ...sample, batches: [batch] };
  const { commits, remote } = partsOf({ mirror });
  const ours = context as unknown as RepoContext;
  const head = await headToGuard(openBatchCommits(ours, commits, remote), run, batch, null, base);
  if (head === undefined) throw new Error("the pins cannot be edited");
  const guard = await openGuard(ours, commits)(run, batch, { base, baseBranch: "main", head });
  return guard.ok ? "ok" : guard.why;
}

const values = (file: string): Partial<Edit> => ({ file, path: "image.tag" });
const tag = (version: string) => `image:\n  tag: ${version}\nreplicas: 2\n`;
const chart = (helm: Data): Data => ({ path: "charts/web", helm });
const CHART = { "charts/web/Chart.yaml": "name: web\n", "charts/web/values.yaml": tag("v1.4.1") };
const merge = (later: Data[]) => [{ merge: { mergeKeys: ["cluster"], generators: [list, { list: { elements: later } }] } }];
const AT_MERGE = "spec.generators[0].merge.generators[0].list.elements[cluster=us-1].version";
const go = { goTemplate: true };
const DIGEST = (sign: string) => `sha256:${sign.repeat(64)}`;

describe("a pin without effect is refused: its batch would be live at once, and nothing changed", () => {
  test.each<[string, World]>([
    ["an element key that nothing uses", {}],
    [
      "a `merge` whose later generator wins",
      {
        generators: merge([{ cluster: "us-1", version: "v1.0.0" }]),
        source: { targetRevision: "{{version}}" },
        edits: [{ path: AT_MERGE }],
      },
    ],
    [
      "a templatePatch that overrides the template",
      {
        spec: { ...go, templatePatch: `{"spec":{"source":{"targetRevision":"v1.0.0"}}}` },
        source: { targetRevision: "{{.version}}" },
      },
    ],
    [
      "a values file that no source names",
      {
        source: chart({ valueFiles: ["eu.yaml"] }),
        files: { ...CHART, "charts/web/eu.yaml": tag("v1.4.1"), "charts/web/us.yaml": tag("v1.4.1") },
        edits: [values("charts/web/us.yaml")],
      },
    ],
    [
      "a values file that a later one overrides",
      {
        source: chart({ valueFiles: ["us.yaml", "/all.yaml"] }),
        files: { ...CHART, "charts/web/us.yaml": tag("v1.4.1"), "all.yaml": tag("v1.0.0") },
        edits: [values("charts/web/us.yaml")],
      },
    ],
    [
      "a values file that a parameter overrides",
      {
        source: chart({ valueFiles: ["us.yaml"], parameters: [{ name: "image.tag", value: "v1.0.0" }] }),
        files: { ...CHART, "charts/web/us.yaml": tag("v1.4.1") },
        edits: [values("charts/web/us.yaml")],
      },
    ],
    [
      "the chart's own values, overridden",
      { source: chart({ valuesObject: { image: { tag: "v1.0.0" } } }), files: CHART, edits: [values("charts/web/values.yaml")] },
    ],
    [
      "an overlay that the kustomization does not take in",
      {
        source: { path: "envs/us" },
        files: {
          "envs/us/kustomization.yaml": "resources: [../../base]\n",
          "base/kustomization.yaml": "resources: []\n",
          "envs/us/tag.yaml": tag("v1.4.1"),
        },
        edits: [values("envs/us/tag.yaml")],
      },
    ],
    [
      "a base's image tag that the overlay sets once more",
      {
        source: { path: "envs/us" },
        files: {
          "envs/us/kustomization.yaml": "resources: [../../base]\nimages: [{ name: web, newTag: v1.0.0 }]\n",
          "base/kustomization.yaml": "resources: []\nimages: [{ name: web, newTag: v1.4.1 }]\n",
        },
        edits: [{ file: "base/kustomization.yaml", path: "images[name=web].newTag" }],
      },
    ],
    ...[".argocd-source-payments-us-1.yaml", ".argocd-source.yaml"].map((name): [string, World] => [
      `an overlay's image tag that Image Updater sets in ${name}`,
      {
        source: { path: "envs/us" },
        files: {
          "envs/us/kustomization.yaml": "images: [{ name: web, newTag: v1.4.1 }]\n",
          [`envs/us/${name}`]: "kustomize: { images: [ 'web:v1.0.0' ] }\n",
        },
        edits: [{ file: "envs/us/kustomization.yaml", path: "images[name=web].newTag" }],
      },
    ]),
    [
      "a folder below one that does not recurse",
      {
        files: { "apps/payments/a.yaml": "apiVersion: v1\nkind: ConfigMap\n", "apps/payments/us/tag.yaml": tag("v1.4.1") },
        edits: [values("apps/payments/us/tag.yaml")],
      },
    ],
  ])("%s", async (_name, world) => {
    expect(await guarded(world)).toMatchObject({ code: "PIN_WITHOUT_EFFECT", applications: ["payments-us-1"] });
  });

  test("what Image Updater writes beside the manifests is named", async () => {
    const override = "charts/web/.argocd-source-payments-us-1.yaml";
    const world: World = {
      source: chart({}),
      files: { ...CHART, [override]: "helm: { parameters: [ { name: image.tag, value: v1.0.0, forcestring: true } ] }\n" },
      edits: [values("charts/web/values.yaml")],
    };
    expect(await guarded(world)).toMatchObject({ code: "PIN_WITHOUT_EFFECT", override });
    const two = { ...world.files, "charts/web/.argocd-source.yaml": world.files?.[override] ?? "" };
    expect(await guarded({ ...world, files: two })).toMatchObject({ override: "charts/web/.argocd-source.yaml" });
  });

  test("such a file that is not why is not named", async () => {
    const other = "helm: { parameters: [ { name: other.tag, value: v1.0.0 } ] }\n";
    const world: World = {
      source: chart({ valuesObject: { image: { tag: "v1.0.0" } } }),
      files: { ...CHART, "charts/web/.argocd-source-payments-us-1.yaml": other },
      edits: [values("charts/web/values.yaml")],
    };
    expect(await guarded(world)).toMatchObject({ code: "PIN_WITHOUT_EFFECT", override: undefined });
  });

  test.each<[string, World]>([
    [
      "an image that Image Updater leaves alone",
      {
        source: { path: "envs/us" },
        files: {
          "envs/us/kustomization.yaml": "images: [{ name: web, newTag: v1.4.1 }]\n",
          "envs/us/.argocd-source-payments-us-1.yaml": "kustomize: { images: [ 'ghcr.io/acme/other:v1.0.0' ] }\n",
        },
        edits: [{ file: "envs/us/kustomization.yaml", path: "images[name=web].newTag" }],
      },
    ],
    [
      "an image whose tag the Application keeps",
      {
        source: { path: "envs/us", kustomize: { images: ["web=ghcr.io/acme/web:*"] } },
        files: { "envs/us/kustomization.yaml": "images: [{ name: web, newTag: v1.4.1 }]\n" },
        edits: [{ file: "envs/us/kustomization.yaml", path: "images[name=web].newTag" }],
      },
    ],
    ["the template uses the element key", { source: { targetRevision: "{{version}}" } }],
    [
      "the last of several values files",
      {
        source: chart({ valueFiles: ["/all.yaml", "us.yaml"] }),
        files: { ...CHART, "charts/web/us.yaml": tag("v1.4.1"), "all.yaml": tag("v1.0.0") },
        edits: [values("charts/web/us.yaml")],
      },
    ],
    ["the chart's own values", { source: { path: "charts/web" }, files: CHART, edits: [values("charts/web/values.yaml")] }],
    [
      "a base two folders away",
      {
        source: { path: "envs/us" },
        files: {
          "envs/us/kustomization.yaml": "resources: [../../mid]\n",
          "mid/kustomization.yaml": "resources: [../base]\n",
          "base/kustomization.yaml": "images: [{ name: web, newTag: v1.4.1 }]\n",
        },
        edits: [{ file: "base/kustomization.yaml", path: "images[name=web].newTag" }],
      },
    ],
    ["a value of the template's valuesObject", { source: chart({ valuesObject: { image: { tag: "{{version}}" } } }), files: CHART }],
    ["a Helm parameter", { source: chart({ parameters: [{ name: "image.tag", value: "{{version}}" }] }), files: CHART }],
    [
      "a dependency of an umbrella chart",
      {
        source: { path: "charts/web" },
        files: { ...CHART, "charts/web/Chart.yaml": "name: web\ndependencies: [{ name: shop, version: v1.4.1 }]\n" },
        edits: [{ file: "charts/web/Chart.yaml", path: "dependencies[name=shop].version" }],
      },
    ],
    [
      "the version of a chart in an OCI registry",
      { source: { repoURL: "oci://ghcr.io/acme/web", path: ".", targetRevision: "{{version}}" } },
    ],
    ["the same, as a Helm chart", { source: { repoURL: "ghcr.io/acme", path: "", chart: "web", targetRevision: "{{version}}" } }],
    [
      "kustomize's tag, and the digest beside it",
      {
        source: { path: "envs/us" },
        files: { "envs/us/kustomization.yaml": `images: [{ name: web, newTag: v1.4.1, digest: "${DIGEST("a")}" }]\n` },
        edits: [
          { file: "envs/us/kustomization.yaml", path: "images[name=web].newTag" },
          { file: "envs/us/kustomization.yaml", path: "images[name=web].digest", from: DIGEST("a"), to: DIGEST("b") },
        ],
      },
    ],
    ["a plain manifest", { files: { "apps/payments/tag.yaml": tag("v1.4.1") }, edits: [values("apps/payments/tag.yaml")] }],
    [
      "what a plugin may read",
      { source: { plugin: { name: "x" } }, files: { "other/tag.yaml": tag("v1.4.1") }, edits: [values("other/tag.yaml")] },
    ],
    [
      "one pin of two",
      { source: { targetRevision: "{{version}}" }, files: { "notes.yaml": tag("v1.4.1") }, edits: [{}, values("notes.yaml")] },
    ],
    ["what puts pins back", { batch: { kind: "Revert" } }],
  ])("not so where it has one: %s", async (_name, world) => {
    expect(await guarded(world)).toBe("ok");
  });

  test("a target that holds the value already is done, and not without effect", async () => {
    const done = { edits: [{ from: "v1.4.2" }], generators: [{ list: { elements: [{ cluster: "us-1", version: "v1.4.2" }] } }] };
    expect(await guarded(done)).toBe("ok");
  });
});

describe("manifest-generate-paths that leave out what a batch edits: refused, with the annotation that would be right", () => {
  const base: World = {
    source: { path: "envs/us" },
    files: {
      "envs/us/kustomization.yaml": "resources: [../../base]\n",
      "base/kustomization.yaml": "images: [{ name: web, newTag: v1.4.1 }]\n",
    },
    edits: [{ file: "base/kustomization.yaml", path: "images[name=web].newTag" }],
  };

  test("as Git gives it, and as it stands in the cluster", async () => {
    const refused = {
      code: "PATHS_NOT_COVERED",
      applications: ["payments-us-1"],
      changed: "base/kustomization.yaml",
      right: ".;/base/kustomization.yaml",
    };
    expect(await guarded({ ...base, annotations: { [PATHS]: "." } })).toMatchObject(refused);
    expect(await guarded({ ...base, annotations: { [PATHS]: ".;../../base" }, live: { [PATHS]: "." } })).toMatchObject(refused);
  });

  test("covered it passes; and what an ApplicationSet is made from is none of its business", async () => {
    expect(await guarded({ ...base, annotations: { [PATHS]: ".;/base" } })).toBe("ok");
    expect(await guarded({ source: { targetRevision: "{{version}}" }, annotations: { [PATHS]: "." } })).toBe("ok");
  });
});
