import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { idleMs } from "../../../test/support/cpu-time.ts";
import type { RepoFiles } from "../../core/base/repo-files.ts";
import type { Edit } from "../../core/plan/plan-types.ts";
import type { Gathered } from "./gathered.ts";
import { kargoIn } from "./kargo.ts";
import { otherWriters } from "./other-writers.ts";
import { renovateIn } from "./renovate.ts";

const REPO = "https://github.com/acme/fleet.git";

function repo(files: Record<string, string | object>): RepoFiles {
  const text = (name: string) => {
    const held = files[name];
    return held === undefined ? null : typeof held === "string" ? held : stringify(held);
  };
  return { read: text, paths: () => Object.keys(files) };
}

/** What is found beside one pin, as `CODE data`. */
function found(files: Record<string, string | object>, edit: Partial<Edit> = {}): string[] {
  const all = repo(files);
  const pin: Edit = { kind: "value", file: "envs/dev/kustomization.yaml", path: "images[0].newTag", from: "v1", to: "v2", ...edit };
  const gathered = { edits: new Map([["payments-dev", [pin]]]), rollout: { pins: [] }, repoURL: REPO, base: "main" };
  const findings = otherWriters({ ...gathered, kargo: kargoIn(all), renovate: renovateIn(all) } as unknown as Gathered);
  return findings.map((one) => {
    const { code, step, manager, written } = one as { code: string; step?: string; manager?: string; written?: string };
    return `${code} ${step ?? manager} ${written}`;
  });
}

const CLONE = { uses: "git-clone", config: { repoURL: REPO, checkout: [{ branch: "main", path: "./src" }] } };
const PUSH = { uses: "git-push", config: { path: "./src" } };
const IMAGE = { uses: "kustomize-set-image", config: { path: `./src/envs/\${{ ctx.stage }}`, images: [] } };

function stage(steps: object[], name = "dev", more: object = {}) {
  const spec = { promotionTemplate: { spec: { steps, ...more } } };
  return { "kargo/stages.yaml": { apiVersion: "kargo.akuity.io/v1alpha1", kind: "Stage", metadata: { name }, spec } };
}

describe("Kargo", () => {
  const vars = [
    { name: "repo", value: REPO },
    { name: "folder", value: "envs" },
  ];
  const byName = (path: string) => [
    { uses: "git-clone", config: { repoURL: `\${{ vars.repo }}`, checkout: [{ branch: "main", path: "out" }] } },
    { uses: "yaml-update", config: { path } },
    { uses: "git-push", config: { path: "./out/" } },
  ];
  const cases: [string, Record<string, object>, Partial<Edit>, string[]][] = [
    ["sets the image that a pin sets", stage([CLONE, IMAGE, PUSH]), {}, ["KARGO_WRITES kustomize-set-image envs/dev/kustomization.yaml"]],
    ["sets it on another stage", stage([CLONE, IMAGE, PUSH], "prod"), {}, []],
    ["never pushes", stage([CLONE, IMAGE]), {}, []],
    ["pushes elsewhere", stage([CLONE, IMAGE, { uses: "git-push", config: { path: "./src", targetBranch: "stage/dev" } }]), {}, []],
    [
      "pushes to the branch that a pin moves",
      stage([CLONE, IMAGE, { uses: "git-push", config: { path: "./src", targetBranch: `stage/\${{ ctx.stage }}` } }]),
      { kind: "branch", file: "", path: "stage/dev" },
      ["KARGO_WRITES git-push stage/dev"],
    ],
    [
      "asks by a pull request",
      stage([
        CLONE,
        IMAGE,
        { uses: "git-push", config: { path: "./src", targetBranch: "kargo/x" } },
        { uses: "git-open-pr", config: { targetBranch: "main" } },
      ]),
      {},
      ["KARGO_WRITES kustomize-set-image envs/dev/kustomization.yaml"],
    ],
    [
      "names it by variables",
      stage(byName(`out/\${{ vars.folder }}/dev/kustomization.yaml`), "x", { vars }),
      {},
      ["KARGO_WRITES yaml-update envs/dev/kustomization.yaml"],
    ],
    ["writes another file", stage(byName("out/other.yaml"), "x", { vars }), {}, []],
    ["writes another repository", stage([{ ...CLONE, config: { ...CLONE.config, repoURL: "https://x/y" } }, IMAGE, PUSH]), {}, []],
    ["is broken", stage([{ uses: 3 }, { uses: "git-clone", config: { checkout: "x" } }] as object[]), {}, []],
  ];
  test.each(cases)("that %s", (_, files, edit, expected) => {
    expect(found(files, edit)).toEqual(expected);
  });

  test("a task that any stage may use counts, and what is only known when it runs may be any of them", () => {
    const task = {
      apiVersion: "kargo.akuity.io/v1alpha1",
      kind: "PromotionTask",
      metadata: { name: "t" },
      spec: { steps: [CLONE, IMAGE, PUSH] },
    };
    expect(found({ "kargo/task.yaml": task })).toHaveLength(1);
  });

  test("variables that double each other are not filled in for ever", () => {
    const doubled = Array.from({ length: 60 }, (_, i) => ({ name: `v${i + 1}`, value: `\${{ vars.v${i} }}\${{ vars.v${i} }}` }));
    const grown = stage([CLONE, { uses: "yaml-update", config: { path: `\${{ vars.v60 }}` } }, PUSH], "dev", {
      vars: [{ name: "v0", value: "src/envs/" }, ...doubled],
    });
    expect(found(grown)).toEqual([]);
  });
});

describe("Renovate", () => {
  const recommended = { extends: ["config:recommended"] };
  const values = { file: "apps/values.yaml", path: "image.tag" };
  const argocd = { argocd: { managerFilePatterns: ["/^appsets/.+\\.ya?ml$/"] } };
  const custom = (matchStrings: string[]) => ({
    customManagers: [{ customType: "regex", managerFilePatterns: ["**/*.yaml"], matchStrings }],
  });
  const cases: [string, object, Partial<Edit>, string | undefined][] = [
    ["bumps images of kustomizations by default", recommended, {}, "kustomize"],
    ["bumps values by default", recommended, values, "helm-values"],
    ["bumps charts by default", {}, { file: "apps/Chart.yaml", path: "dependencies[name=app].version" }, "helmv3"],
    ["does not look at other files", recommended, { file: "clusters/eu.yaml", path: "version" }, undefined],
    ["does not write that place", recommended, { path: "replicas[0].count" }, undefined],
    ["is told to look at the sets", argocd, { file: "appsets/a.yaml", path: "spec.template.spec.source.targetRevision" }, "argocd"],
    ["looks at other sets", argocd, { file: "sets/a.yaml", path: "spec.template.spec.source.targetRevision" }, undefined],
    ["leaves the folder out", { ...recommended, ignorePaths: ["envs/**"] }, {}, undefined],
    ["leaves the folder out by its name", { ignorePaths: ["envs/"] }, {}, undefined],
    ["leaves tests out, as the recommended presets do", recommended, { file: "a/test/values.yaml", path: "image.tag" }, undefined],
    ["takes only other paths", { includePaths: ["rollouts/**"] }, {}, undefined],
    ["has that manager switched off", { kustomize: { enabled: false } }, {}, undefined],
    ["has others switched on", { enabledManagers: ["npm"] }, {}, undefined],
    ["has a rule against those files", { packageRules: [{ matchFileNames: ["envs/**"], enabled: false }] }, {}, undefined],
    ["has a rule against some packages only", { packageRules: [{ matchPackageNames: ["x"], enabled: false }] }, {}, "kustomize"],
    ["is switched off", { enabled: false }, {}, undefined],
    ["finds it by an expression", custom(["newTag: (?<currentValue>\\S+)"]), { path: "x" }, "custom.regex"],
    ["finds nothing by its expression", custom(["# renovate: (?<depName>\\S+)"]), { path: "x" }, undefined],
  ];
  test.each(cases)("that %s", (_, settings, edit, manager) => {
    const file = edit.file ?? "envs/dev/kustomization.yaml";
    const files = { "renovate.json": JSON.stringify(settings), [file]: "images:\n  - name: app\n    newTag: v1\n" };
    expect(found(files, edit)).toEqual(manager === undefined ? [] : [`RENOVATE_WRITES ${manager} ${file}`]);
  });

  test("is read wherever it keeps its settings, comments and all", () => {
    const file = { "envs/dev/kustomization.yaml": "images: []\n" };
    expect(found({ ...file, ".github/renovate.json5": "{ // ours\n  extends: ['config:base'],\n}" })).toHaveLength(1);
    expect(found({ ...file, "package.json": '{"renovate": {}}' })).toHaveLength(1);
    expect(found({ ...file, "package.json": "{}" })).toEqual([]);
    expect(found({ ...file, "renovate.json": "[".repeat(50_000) })).toEqual([]);
    expect(found({ ...file, "renovate.json": JSON.stringify({ ignorePaths: [`${"!".repeat(200_000)}other/**`] }) })).toHaveLength(1);
  });
});

test("what strangers write into either's settings is read in a moment", () => {
  const vars = [{ name: "open", value: `\${{`.repeat(100_000) }];
  const kargo = ["KARGO_WRITES kustomize-set-image envs/dev/kustomization.yaml"];
  expect(idleMs(() => expect(found(stage([CLONE, IMAGE, PUSH], "dev", { vars }))).toEqual(kargo))).toBeLessThan(2000);
  const slashes = { "renovate.json": JSON.stringify({ ignorePaths: [`${"/".repeat(200_000)}a`] }) };
  expect(idleMs(() => expect(found(slashes)).toHaveLength(1))).toBeLessThan(2000);
});
