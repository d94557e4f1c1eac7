import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { sampleRollout } from "../../../test/support/sample-run.ts";
import type { Edit } from "../../core/plan/plan-types.ts";
import { sayProblem } from "../../core/report/reasons/problems/problems.ts";
import type { PinTemplate, Rollout } from "../../core/spec/rollout.ts";
import { manifestIn } from "../config-repo/appset-in-git.ts";
import { LARGEST_MANIFEST } from "../config-repo/set-files.ts";
import type { Gathered, ParentApplication } from "./gathered.ts";
import { lintOutside } from "./lint-outside.ts";
import { hydratedElsewhere } from "./reads.ts";

const REPO = "https://github.com/acme/fleet.git";
const FILE = "appsets/payments.yaml";

type Data = Record<string, unknown>;

const PIN: PinTemplate = { kind: "value", file: FILE, path: "a", value: "{{ release.version }}", create: false };

interface World {
  /** Of the set's spec, beside its generators and template. */
  spec?: Data;
  /** Of the template's spec. */
  template?: Data;
  annotations?: Data;
  source?: Data;
  generators?: unknown[];
  parents?: ParentApplication[];
  rollout?: Partial<Rollout>;
  edit?: Partial<Edit>;
  files?: number;
  more?: Record<string, string>;
  texts?: Record<string, string>;
  templates?: string[];
  /** Of the set's file at least: the rest of it is comments. */
  length?: number;
  seesAll?: boolean;
  base?: string | undefined;
  methods?: string[];
}

const PARENT: ParentApplication = {
  name: "apps",
  sources: [{ repoURL: REPO, path: "appsets", targetRevision: "main" }],
  owned: false,
  automated: true,
};

function lint(world: World = {}): string[] {
  const list = {
    list: {
      elements: [
        { cluster: "eu-1", targetRevision: "v1" },
        { cluster: "us-1", targetRevision: "v1" },
      ],
    },
  };
  const source = { repoURL: REPO, path: "apps/payments", targetRevision: "{{targetRevision}}", ...world.source };
  const object = {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "ApplicationSet",
    metadata: { name: "payments", namespace: "argocd" },
    spec: {
      ...world.spec,
      generators: world.generators ?? [list],
      template: {
        metadata: { name: "payments-{{cluster}}", ...(world.annotations === undefined ? {} : { annotations: world.annotations }) },
        spec: {
          project: "default",
          source,
          destination: { name: "{{cluster}}", namespace: "x" },
          syncPolicy: { automated: {} },
          ...world.template,
        },
      },
    },
  };
  const own = stringify(object);
  const text = world.length === undefined ? own : `${`${own}#`.padEnd(world.length - 1, "x")}\n`;
  const files: Record<string, string> = {
    [FILE]: text,
    "clusters/eu-1.yaml": "cluster: eu-1\ntargetRevision: v1\n",
    "apps/payments/Chart.yaml": "name: payments\n",
    "apps/payments/values.yaml": "image:\n  tag: v1\n",
    ...world.texts,
    ...world.more,
  };
  const sync = {
    read: (path: string) => files[path] ?? null,
    paths: () => [...Object.keys(files), ...Array.from({ length: (world.files ?? 2) - 2 }, (_, i) => `more/${i}`)],
  };
  const rollout = sampleRollout(world.rollout);
  const path = "spec.generators[0].list.elements[cluster=eu-1].targetRevision";
  const edit: Edit = { kind: "value", file: FILE, path, from: "v1", to: "v2", ...world.edit };
  const set = manifestIn(text, "ApplicationSet", [rollout.source]);
  const problems = lintOutside(
    {
      rollout,
      set: set === undefined ? undefined : { file: FILE, object: set },
      clusters: [],
      edits: new Map([["payments-eu-1", [edit]]]),
      parents: world.parents ?? [PARENT],
      ...(world.templates && { templates: world.templates }),
      seesAll: world.seesAll ?? true,
      repoURL: REPO,
      defaultBranch: "base" in world ? world.base : "main",
      methods: world.methods,
    },
    sync,
  );
  return problems.map((one) => ({ ...one, ...sayProblem(one) })).map(({ code, severity, message }) => `${severity} ${code} ${message}`);
}

/** Reads the base, and takes the version as a parameter. */
const FOLLOWS: Data = { targetRevision: "main", helm: { parameters: [{ name: "tag", value: "{{targetRevision}}" }] } };
const PATHS = "argocd.argoproj.io/manifest-generate-paths";

describe("a pin that no Application would follow is an error before anything is released", () => {
  const told = (world: World) => lint(world).filter((one) => /^error (PIN_WITHOUT_EFFECT|PATHS_NOT_COVERED) /.test(one));
  const chart = (helm: Data): World => ({
    source: { targetRevision: "main", helm },
    edit: { file: "apps/payments/values.yaml", path: "image.tag" },
  });

  test.each<[string, World]>([
    ["an element key that the template does not use", { source: { targetRevision: "main" } }],
    [
      "a merge whose later generator wins",
      {
        generators: [
          {
            merge: {
              mergeKeys: ["cluster"],
              generators: [
                { list: { elements: [{ cluster: "eu-1", targetRevision: "v1" }] } },
                { list: { elements: [{ cluster: "eu-1", targetRevision: "v0" }] } },
              ],
            },
          },
        ],
        edit: { path: "spec.generators[0].merge.generators[0].list.elements[cluster=eu-1].targetRevision" },
      },
    ],
    ["values that a parameter overrides", chart({ parameters: [{ name: "image.tag", value: "v0" }] })],
    [
      "values of another file",
      {
        source: { targetRevision: "main", helm: { valueFiles: ["us.yaml"] } },
        texts: { "apps/payments/eu.yaml": "tag: v1\n" },
        edit: { file: "apps/payments/eu.yaml", path: "tag" },
      },
    ],
  ])("%s", (_name, world) => {
    expect(told(world)).toEqual([expect.stringMatching(/^error PIN_WITHOUT_EFFECT .*payments-eu-1/)]);
  });

  test("a set that is just small enough to be read is looked at with other versions in its pins, too", () => {
    const world: World = { source: { targetRevision: "main" }, length: LARGEST_MANIFEST };
    expect(told(world)).toEqual([expect.stringMatching(/^error PIN_WITHOUT_EFFECT .*payments-eu-1/)]);
  });

  test("one that some Application follows is none, and nothing is said of what cannot be known", () => {
    expect(told(chart({}))).toEqual([]);
    expect(told({ source: { targetRevision: "main", plugin: {} }, edit: { file: "clusters/eu-1.yaml", path: "targetRevision" } })).toEqual(
      [],
    );
  });

  test("what a kustomization, a chart or another hub may make of an edit is not judged by what Git declares", () => {
    const fed = (file: string, texts: Record<string, string>): World => ({
      ...chart({}),
      edit: { file, path: "tag" },
      texts: { [file]: "tag: v1\n", ...texts },
    });
    expect(told(fed("appsets/patch.yaml", {}))).toHaveLength(1);
    const kustomization = { "appsets/kustomization.yaml": "resources: [payments.yaml]\npatches: [{ path: patch.yaml }]\n" };
    expect(told(fed("appsets/patch.yaml", kustomization))).toEqual([]);
    expect(told(fed("values.yaml", { "appsets/Chart.yaml": "name: sets\n" }))).toEqual([]);
    const other = "kind: ApplicationSet\nmetadata: { name: payments }\ntag: v1\n";
    expect(told({ ...chart({}), edit: { file: "hub-2/payments.yaml", path: "tag" }, texts: { "hub-2/payments.yaml": other } })).toEqual([]);
  });

  test("manifest-generate-paths that leave the pin's file out are told with what they should be", () => {
    const world = {
      ...chart({ valueFiles: ["/envs/eu-1.yaml"] }),
      texts: { "envs/eu-1.yaml": "tag: v1\n" },
      edit: { file: "envs/eu-1.yaml", path: "tag" },
    };
    expect(told({ ...world, annotations: { [PATHS]: "." } })).toEqual([
      expect.stringMatching(/^error PATHS_NOT_COVERED payments-eu-1: .*envs\/eu-1.yaml.* \(\.\)/),
    ]);
    expect(told({ ...world, annotations: { [PATHS]: ".;/envs/eu-1.yaml" } })).toEqual([]);
    const parents = [PARENT, { name: "payments-eu-1", sources: [], owned: true, automated: true, generatePaths: "." }];
    expect(told({ ...world, annotations: { [PATHS]: ".;/envs" }, parents })).toHaveLength(1);
  });
});

describe("lint looks outside the rollout's file", () => {
  test("a fleet that is set up well has nothing against it", () => {
    expect(lint()).toEqual([]);
  });

  test("a merge method that the base branch forbids is an error before the first batch, not GitHub's refusal of it", () => {
    const method = sampleRollout().delivery.method;
    const others = ["merge", "squash", "rebase"].filter((one) => one !== method);
    expect(lint({ methods: others })).toEqual([expect.stringMatching(`^error METHOD_FORBIDDEN main .*${method}`)]);
    expect(lint({ methods: [method] })).toEqual([]);
    expect(lint({ methods: others, rollout: { mode: "Propose" } })).toEqual([]);
  });

  test("a template that cannot be rendered says nothing of auto-sync where a patch may add it", () => {
    const unrendered = { generators: [{ pullRequest: {} }], template: { syncPolicy: {} } };
    const isOff = (one: string) => one.includes("AUTO_SYNC_OFF");
    expect(lint(unrendered).some(isOff)).toBe(true);
    expect(lint({ ...unrendered, spec: { templatePatch: "spec: { syncPolicy: { automated: {} } }" } }).some(isOff)).toBe(false);
  });

  test.each<[string, World, RegExp]>([
    ["RollingSync", { spec: { strategy: { type: "RollingSync", rollingSync: { steps: [] } } } }, /^error ROLLING_SYNC/],
    ["create-only", { spec: { syncPolicy: { applicationsSync: "create-only" } } }, /^error CREATE_ONLY/],
    ["auto-sync not there", { template: { syncPolicy: {} } }, /^error AUTO_SYNC_OFF .*its Applications have no/],
    ["auto-sync off", { template: { syncPolicy: { automated: { enabled: false } } } }, /^error AUTO_SYNC_OFF/],
    [
      "a pin's place ignored by pointer",
      { spec: { ignoreApplicationDifferences: [{ jsonPointers: ["/spec/source/targetRevision"] }] } },
      /^error IGNORED_PIN .*\/spec\/source\/targetRevision/,
    ],
    [
      "a pin's place ignored by what holds it",
      { spec: { ignoreApplicationDifferences: [{ jsonPointers: ["/spec/source"] }] } },
      /^error IGNORED_PIN/,
    ],
    [
      "a pin's place ignored by a jq expression",
      { spec: { ignoreApplicationDifferences: [{ jqPathExpressions: [".spec.source.targetRevision"] }] } },
      /^error IGNORED_PIN/,
    ],
    [
      "Image Updater on the same tag",
      {
        annotations: { "argocd-image-updater.argoproj.io/image-list": "app=ghcr.io/acme/app" },
        rollout: { pins: [{ kind: "value", file: FILE, path: "x.image.tag", create: false, value: "v" }] },
      },
      /^error IMAGE_UPDATER/,
    ],
    [
      "a git generator at another branch",
      {
        generators: [{ git: { repoURL: "git@github.com:acme/fleet", revision: "release", files: [{ path: "clusters/*.yaml" }] } }],
      },
      /^error BASE_REVISION .*git generator reads this repo at release/,
    ],
    [
      "a parent at another branch",
      { parents: [{ ...PARENT, sources: [{ repoURL: REPO, path: "appsets", targetRevision: "stable" }] }] },
      /^error BASE_REVISION its parent Application apps reads appsets\/payments.yaml at stable/,
    ],
    [
      "the pin's place read from another repo: both are named",
      {
        source: { repoURL: "https://git.example.com/other/fleet.git", targetRevision: "main", helm: { valueFiles: ["values.yaml"] } },
        edit: { file: "apps/payments/values.yaml", path: "image.tag" },
      },
      /^warning BASE_REVISION payments-eu-1 reads the pin's file from https:\/\/git.example.com\/other\/fleet.git, and batches are written to .*acme\/fleet/,
    ],
    [
      "values read at another branch than they are written to",
      {
        source: { targetRevision: "stable", path: "clusters" },
        edit: { file: "clusters/eu-1.yaml", path: "targetRevision" },
      },
      /^error BASE_REVISION payments-eu-1 reads the pin's file at stable/,
    ],
    [
      "delivery.base that nobody reads",
      { base: undefined, rollout: { delivery: { ...sampleRollout().delivery, base: "rollouts" } } },
      /^error BASE_REVISION .* at main/,
    ],
    ["a large monorepo without manifest-generate-paths", { source: FOLLOWS, files: 3000 }, /^warning NO_GENERATE_PATHS 2 Applications/],
    ["a parent that waits for a person at each batch", { parents: [{ ...PARENT, automated: false }] }, /^warning PARENT_BY_HAND/],
    [
      "a set that lies below its parent's folder, whose kustomization does not name it",
      { more: { "appsets/kustomization.yaml": "resources: [other.yaml]\n" } },
      /^warning NOT_APPLIED/,
    ],
    ["a set that Argo CD would not take", { generators: [{ lists: {} }] }, /^error SET_BROKEN .*"lists" is not a generator/],
    [
      "a pin's file that another Application reads",
      {
        source: { targetRevision: "main", plugin: { name: "values" } },
        edit: { file: "values/eu-1.yaml", path: "tag" },
        rollout: { pins: [{ ...PIN, file: "values/{{ cluster.name }}.yaml", path: "tag" }] },
        more: { "values/eu-1.yaml": "tag: v1\n" },
        parents: [PARENT, { ...PARENT, name: "ledger", sources: [{ repoURL: REPO, path: "values", targetRevision: "main" }] }],
      },
      /^error READ_OUTSIDE values\/eu-1.yaml holds a pin, and ledger would change with it/,
    ],
    [
      "a set that nothing applies",
      { parents: [{ ...PARENT, sources: [{ repoURL: REPO, path: "other", targetRevision: "main" }] }] },
      /^warning NOT_APPLIED/,
    ],
  ])("%s", (_name, world, says) => {
    const told = lint(world);
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(says);
  });

  describe("a pin's file that its parent reads", () => {
    const shared: World = {
      source: { targetRevision: "main", plugin: { name: "values" } },
      edit: { file: "fleet/values.yaml", path: "tag" },
      rollout: { pins: [{ ...PIN, file: "fleet/values.yaml", path: "tag" }] },
      more: { "fleet/values.yaml": "tag: v1\n", "fleet/Chart.yaml": "name: fleet\n" },
    };
    const fleet = { ...PARENT, name: "fleet", sources: [{ repoURL: REPO, path: "fleet", targetRevision: "main" }] };
    const maker = { ...fleet, sources: [...PARENT.sources, ...fleet.sources] };
    const templates = ["fleet/templates/set.yaml"];

    test.each<[string, World]>([
      ["whose parent applies the set's manifest", { ...shared, parents: [maker] }],
      ["whose chart makes a set that no file declares", { ...shared, parents: [PARENT, fleet], templates }],
    ])("is a warning with both ways out, %s: Argo CD may be asked", (_name, world) => {
      expect(lint(world)).toEqual([
        expect.stringMatching(/^warning PARENT_READS fleet\/values.yaml holds a pin, and fleet, .*`kind: api`/),
      ]);
    });

    test("is an error where it is known that nobody can ask, nothing where somebody can, and an error where others read it, too", () => {
      expect(lint({ ...shared, parents: [{ ...maker, askable: false }] })).toEqual([expect.stringMatching(/^error READ_OUTSIDE .*fleet/)]);
      expect(lint({ ...shared, parents: [{ ...maker, askable: true }] })).toEqual([]);
      expect(lint({ ...shared, parents: [maker, { ...fleet, name: "ledger" }] })).toEqual([
        expect.stringMatching(/^error READ_OUTSIDE .*and ledger would/),
      ]);
      expect(lint({ ...shared, parents: [PARENT, fleet] })).toEqual([expect.stringMatching(/^error READ_OUTSIDE .*and fleet would/)]);
    });
  });

  test.each<[string, World]>([
    ["the annotation of Image Updater where pins are no image", { annotations: { "argocd-image-updater.argoproj.io/image-list": "x" } }],
    [
      "another place that is ignored",
      { spec: { ignoreApplicationDifferences: [{ jsonPointers: ["/spec/syncPolicy", "/metadata/labels"] }] } },
    ],
    ["a file generator at HEAD", { generators: [{ git: { repoURL: REPO, revision: "HEAD", files: [{ path: "clusters/*.yaml" }] } }] }],
    ["a generator of another repo", { generators: [{ git: { repoURL: "https://x/y.git", revision: "v1", files: [{ path: "x" }] } }] }],
    [
      "a large monorepo with the annotation",
      { source: FOLLOWS, files: 3000, annotations: { "argocd.argoproj.io/manifest-generate-paths": "." } },
    ],
    [
      "a parent that applies it by way of kustomizations",
      {
        more: {
          "bootstrap/hub/kustomization.yaml": "resources: [../all]\n",
          "bootstrap/all/kustomization.yml": `resources:\n  - ../../${FILE}\n  - https://github.com/acme/x//y?ref=v1\n`,
        },
        parents: [{ ...PARENT, sources: [{ repoURL: REPO, path: "bootstrap/hub/", targetRevision: "main" }] }],
      },
    ],
    ["nobody known who could apply it", { parents: [{ ...PARENT, owned: true, sources: [] }], seesAll: false }],
    [
      "a base that is not known",
      { base: undefined, parents: [{ ...PARENT, sources: [{ repoURL: REPO, path: "appsets", targetRevision: "stable" }] }] },
    ],
  ])("nothing is said of %s", (_name, world) => {
    expect(lint(world)).toEqual([]);
  });

  test("a set whose parts are of the wrong type harms nobody", () => {
    expect(lint({ spec: { strategy: 7, syncPolicy: [], ignoreApplicationDifferences: [null, { jsonPointers: 3 }, "x"] } })).toEqual([]);
    expect(lint({ generators: [{ matrix: { generators: [{ matrix: { generators: "x" } }] } }, null] })).toEqual([
      expect.stringMatching(/^error SET_BROKEN .*matrix/),
    ]);
  });
});

test("what is hydrated to a branch that cannot be read here, and what shares such a branch, is said", () => {
  const hydrated = (name: string, repoURL: string | undefined, targetBranch: string) => ({
    metadata: { name },
    spec: {
      sourceHydrator: { drySource: { repoURL: REPO, path: "dry" }, syncSource: { ...(repoURL && { repoURL }), targetBranch, path: name } },
    },
  });
  const told = (...rendered: unknown[]) => hydratedElsewhere({ rendered, repoURL: REPO } as unknown as Gathered);
  expect(told(hydrated("a", undefined, "env/prod"), hydrated("b", undefined, "env/prod"))).toEqual([]);
  const away = "https://git.example.com/acme/rendered";
  expect(told(hydrated("a", away, "env/a"), hydrated("b", away, "env/b"))).toMatchObject([
    { code: "HYDRATED_ELSEWHERE", shared: undefined },
  ]);
  expect(told(hydrated("a", away, "env"), hydrated("b", away, "env"))).toMatchObject([{ shared: "git.example.com/acme/rendered env" }]);
  const drySource = { repoURL: REPO, path: "dry", targetRevision: "{{targetRevision}}" };
  const template = {
    source: undefined,
    sourceHydrator: { drySource, syncSource: { repoURL: away, targetBranch: "env", path: "{{cluster}}" } },
  };
  expect(lint({ template })).toContainEqual(expect.stringContaining("HYDRATED_ELSEWHERE"));
});
