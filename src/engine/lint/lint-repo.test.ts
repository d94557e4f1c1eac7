import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { sampleRollout } from "../../../test/support/sample-run.ts";
import type { Edit } from "../../core/plan/plan-types.ts";
import { sayProblem } from "../../core/report/reasons/problems/problems.ts";
import { manifestIn } from "../config-repo/appset-in-git.ts";
import { readWorkflow } from "../config-repo/workflow-triggers.ts";
import { lintOutside } from "./lint-outside.ts";

const FILE = "appsets/payments.yaml";
const CI = ".github/workflows/ci.yaml";

const SET = {
  apiVersion: "argoproj.io/v1alpha1",
  kind: "ApplicationSet",
  metadata: { name: "payments", namespace: "argocd" },
  spec: {
    generators: [{ list: { elements: [{ cluster: "eu-1" }, { cluster: "us-1" }] } }],
    template: {
      metadata: { name: "payments-{{cluster}}", labels: { team: "money" } },
      spec: {
        project: "default",
        source: { repoURL: "https://github.com/acme/apps.git", path: "payments", targetRevision: "main" },
        destination: { name: "{{cluster}}", namespace: "x" },
        syncPolicy: { automated: {} },
      },
    },
  },
};

/** What lint says of the sample in a repo that holds these files, too. */
function lint(files: Record<string, string>, { required = ["ci"], path = "image.tag" } = {}): string[] {
  const repo: Record<string, string> = { [FILE]: stringify(SET), ...files };
  const rollout = sampleRollout({ pins: [{ kind: "value", file: "values/{{ cluster.name }}.yaml", path, create: false, value: "v" }] });
  const edit = (file: string): Edit => ({ kind: "value", file, path, from: "v1", to: "v2" });
  const problems = lintOutside(
    {
      rollout,
      set: { file: FILE, object: manifestIn(repo[FILE] ?? null, "ApplicationSet", [rollout.source]) ?? {} },
      clusters: [],
      edits: new Map([["payments-eu-1", [edit("values/eu-1.yaml")]]]),
      parents: [],
      seesAll: false,
      repoURL: "https://github.com/acme/fleet.git",
      defaultBranch: "main",
      required: required.map((context) => ({ context })),
    },
    { read: (name) => repo[name] ?? null, paths: () => Object.keys(repo) },
  );
  return problems.map((one) => ({ ...one, ...sayProblem(one) })).map(({ code, severity, message }) => `${severity} ${code} ${message}`);
}

function workflow(on: unknown, jobs: unknown = { ci: {} }): Record<string, string> {
  return { [CI]: stringify({ on, jobs }) };
}

describe("a required check that GitHub Actions never reports", () => {
  test("is warned about by its name, with the workflow and the file", () => {
    expect(lint(workflow({ pull_request: { paths: ["src/**"] } }))).toEqual([
      expect.stringMatching(`^warning SILENT_CHECK .*"ci".*values/eu-1.yaml.*${CI}`),
    ]);
  });

  test.each<[string, unknown, unknown?]>([
    ["paths-ignore that has all of it", { pull_request: { "paths-ignore": ["values/**"] } }],
    ["paths that take it out again", { pull_request: { paths: ["**", "!values/*.yaml"] } }],
    ["another base", { pull_request: { branches: ["release/*"] } }],
    ["pushes to other branches", { push: { branches: ["main"] } }],
    ["pushes of tags", { push: { tags: ["v*"] } }],
    ["the clock alone", { schedule: [{ cron: "0 0 * * *" }] }],
    ["being called by others alone", ["workflow_call", "workflow_dispatch"]],
    ["a matrix of other paths", { pull_request: { paths: ["src/**"] } }, { ci: { strategy: { matrix: { node: [1] } } } }],
    ["a job that is named so", { pull_request: { paths: ["src/**"] } }, { build: { name: "ci" } }],
  ])("warns of %s", (_, on, jobs) => {
    expect(lint(workflow(on, jobs))).toEqual([expect.stringMatching(/^warning SILENT_CHECK/)]);
  });

  test.each<[string, unknown, unknown?]>([
    ["every pull request", "pull_request"],
    ["a list of events", ["push", "pull_request"]],
    ["paths with it", { pull_request: { paths: ["values/**"] } }],
    ["paths-ignore without it", { pull_request: { "paths-ignore": ["docs/**"] } }],
    ["this base", { pull_request: { branches: ["main"] } }],
    ["every push", { push: null }],
    ["pushes to batches' branches", { push: { branches: ["stagecoach-run/**"] } }],
    ["an event of which nobody knows", { repository_dispatch: {} }],
    ["jobs of other names", { pull_request: { paths: ["src/**"] } }, { build: {} }],
    ["no jobs at all", { pull_request: { paths: ["src/**"] } }, 7],
  ])("says nothing of %s", (_, on, jobs) => {
    expect(lint(workflow(on, jobs))).toEqual([]);
  });

  test("is none where a second workflow has it, where nothing is required, and where it is our own", () => {
    const silent = workflow({ pull_request: { paths: ["src/**"] } });
    const second = stringify({ on: "pull_request", jobs: { ci: {} } });
    expect(lint({ ...silent, ".github/workflows/other.yml": second })).toEqual([]);
    expect(lint(silent, { required: [] })).toEqual([]);
    expect(
      lint({ [CI]: stringify({ on: { push: { tags: ["x"] } }, jobs: { "stagecoach/gate": {} } }) }, { required: ["stagecoach/gate"] }),
    ).toEqual([]);
  });

  test("a workflow that is none, is broken, or names its jobs to slow us down harms nobody", () => {
    expect(lint({ [CI]: "on: [\n" })).toEqual([]);
    expect(lint({ [CI]: "- a\n" })).toEqual([]);
    const name = `\${{ a }}`.repeat(200);
    expect(readWorkflow(CI, stringify({ on: "push", jobs: { a: { name } } }))?.reports("x".repeat(10_000))).toBe(true);
  });

  test("names of jobs are those that GitHub gives to checks", () => {
    const jobs = {
      plain: {},
      called: { uses: "./.github/workflows/x.yaml" },
      many: { strategy: { matrix: {} } },
      named: { name: `test \${{ matrix.os }}` },
    };
    const made = readWorkflow(CI, stringify({ on: "push", jobs }));
    const names = ["plain", "called / inner", "many (18, linux)", "test linux", "plain (18)", "called", "other"];
    expect(names.map((name) => made?.reports(name))).toEqual([true, true, true, true, false, false, false]);
  });
});

describe("an ImageUpdater", () => {
  const images = [{ alias: "app", imageName: "ghcr.io/acme/app" }];
  const updater = (spec: object, namespace = "argocd") => ({
    "updater.yaml": stringify({ kind: "ImageUpdater", metadata: { name: "images", namespace }, spec }),
  });
  const none = { required: [] };

  test("that sets the image of Applications whose pins set it is an error", () => {
    expect(lint(updater({ applicationRefs: [{ namePattern: "payments-*", images }] }), none)).toEqual([
      expect.stringMatching(/^error IMAGE_UPDATER updater\.yaml: ImageUpdater images .*payments-eu-1, payments-us-1$/),
    ]);
    expect(lint(updater({ applicationRefs: [{ namePattern: "*-eu-1", images }] }), none)).toEqual([
      expect.stringMatching(/of payments-eu-1$/),
    ]);
    const labelSelectors = { matchLabels: { team: "money" }, matchExpressions: [{ key: "team", operator: "Exists" }] };
    expect(lint(updater({ applicationRefs: [{ namePattern: "*", labelSelectors, images }] }), none)).toHaveLength(1);
  });

  test.each<[string, ReturnType<typeof updater>, string?]>([
    ["of other Applications", updater({ applicationRefs: [{ namePattern: "ledger-*", images }] })],
    ["of other labels", updater({ applicationRefs: [{ namePattern: "*", labelSelectors: { matchLabels: { team: "x" } }, images }] })],
    ["of another namespace", updater({ applicationRefs: [{ namePattern: "*", images }] }, "elsewhere")],
    ["without images", updater({ applicationRefs: [{ namePattern: "*" }] })],
    ["that leaves it to annotations", updater({ applicationRefs: [{ namePattern: "*", useAnnotations: true, images }] })],
    ["that is nonsense", updater({ applicationRefs: [7, { namePattern: 3, images: "x" }] })],
    ["beside pins of something else", updater({ applicationRefs: [{ namePattern: "*", images }] }), "targetRevision"],
  ])("%s is none of ours", (_, files, path) => {
    expect(lint(files, { ...none, ...(path === undefined ? {} : { path }) })).toEqual([]);
  });
});
