import { describe, expect, test } from "vitest";
import { batchTarget, sampleRollout, sampleRun } from "../../../test/support/sample-run.ts";
import type { ControlPlane } from "../../adapters/argocd/port.ts";
import type { ApplicationView, SourceView } from "../../core/argocd/views.ts";
import type { Batch } from "../../core/run/state/run.ts";
import type { PinTemplate, SourceRef } from "../../core/spec/rollout.ts";
import type { Snapshot, SyncFiles } from "../config-repo/snapshot.ts";
import { outsideReader, readsFile } from "./outside-readers.ts";

const repoURL = "https://github.example/org/config.git";
const HERE = { repoURL };
const chart = { repoURL: "https://charts.example", chart: "app", targetRevision: "1.2.3" };
const helm = (...valueFiles: string[]) => ({ rest: { helm: { valueFiles } } });

const READS: [string, boolean, SourceView[]][] = [
  ["its directory", true, [{ ...HERE, path: "values" }]],
  ["a directory above it", true, [{ ...HERE, path: "./values/shared/" }]],
  ["the whole repo", true, [{ ...HERE, path: "." }]],
  ["a directory whose name only begins alike", false, [{ ...HERE, path: "values/share" }]],
  ["another directory", false, [{ ...HERE, path: "apps/a" }]],
  ["a values file relative to its path", true, [{ ...HERE, path: "apps/a", ...helm("../../values/shared/eu.yaml") }]],
  ["a values file from the root", true, [{ ...HERE, path: "apps/a", ...helm("/values/shared/eu.yaml") }]],
  ["a file parameter", true, [{ ...HERE, path: "apps/a", rest: { helm: { fileParameters: [{ path: "/values/shared/eu.yaml" }] } } }]],
  ["another values file", false, [{ ...HERE, path: "apps/a", ...helm("/values/shared/us.yaml", "https://x/values/shared/eu.yaml") }]],
  [
    "it through a ref",
    true,
    [
      { ...chart, ...helm("$v/values/shared/eu.yaml") },
      { ...HERE, ref: "v" },
    ],
  ],
  [
    "another file through a ref",
    false,
    [
      { ...chart, ...helm("$v/values/shared/us.yaml") },
      { ...HERE, ref: "v" },
    ],
  ],
  [
    "a ref of another repo",
    false,
    [
      { ...chart, ...helm("$v/values/shared/eu.yaml") },
      { repoURL: "https://github.example/org/other", ref: "v" },
    ],
  ],
  [
    "a ref at a tag",
    false,
    [
      { ...chart, ...helm("$v/values/shared/eu.yaml") },
      { ...HERE, targetRevision: "v1", ref: "v" },
    ],
  ],
  ["the directory at the base branch", true, [{ ...HERE, path: "values", targetRevision: "main" }]],
  [
    "the directory at HEAD, by another spelling of the repo",
    true,
    [{ repoURL: "git@github.example:org/config", path: "values", targetRevision: "HEAD" }],
  ],
  ["the directory at another branch", false, [{ ...HERE, path: "values", targetRevision: "env/eu" }]],
  ["the same directory of another repo", false, [{ repoURL: "https://github.example/org/other", path: "values" }]],
];

test.each(READS)("an Application that reads %s: reads the file is %s", (_name, expected, sources) => {
  expect(readsFile(sources, "values/shared/eu.yaml", { repoURL, baseBranch: "main" })).toBe(expected);
});

describe("of a chart's folder", () => {
  const source = (...valueFiles: string[]) => [{ ...HERE, path: "chart", ...helm(...valueFiles) }];
  const at = (template: string): Record<string, string> => ({ "chart/Chart.yaml": "name: a\n", "chart/templates/a.yaml": template });
  test.each<[string, boolean, string, SourceView[], string]>([
    ["the values file it names", true, "chart/prod.yaml", source("prod.yaml"), ""],
    ["no values file that another one names", false, "chart/dev.yaml", source("prod.yaml"), ""],
    ["the chart's own values", true, "chart/values.yaml", source("prod.yaml"), ""],
    ["a template", true, "chart/templates/a.yaml", source("prod.yaml"), ""],
    ["any file, where a template asks for files", true, "chart/dev.yaml", source("prod.yaml"), "{{ .Files.Get .Values.file }}"],
    ["its own override", true, "chart/.argocd-source-a.yaml", source("prod.yaml"), ""],
  ])("it reads %s: %s", (_name, expected, file, sources, template) => {
    const files = at(template);
    const repo = { paths: () => Object.keys(files), read: (path: string) => files[path] ?? null };
    expect(readsFile(sources, file, { repoURL, baseBranch: "main" }, repo)).toBe(expected);
  });
});

const FILE = "values/shared/eu.yaml";
const SHARED: PinTemplate = { kind: "value", file: FILE, path: "image.tag", create: false, value: "{{ release.version }}" };

function judge(
  files: Record<string, string>,
  readers: Record<string, SourceView[]>,
  more: { pin?: PinTemplate; source?: Partial<SourceRef>; fresh?: boolean; to?: string; sourceHydrator?: unknown } = {},
) {
  const { pin = SHARED, fresh = true, to = "v1.4.2", sourceHydrator } = more;
  const rollout = sampleRollout();
  const run = sampleRun({ spec: { ...rollout, pins: [pin], source: { ...rollout.source, ...more.source } } });
  const edits = [{ kind: "value" as const, file: Object.keys(files)[0] ?? FILE, path: "image.tag", from: "v1.4.1", to }];
  const batch = { targets: [{ ...batchTarget("us-1", "Pending"), edits }] } as unknown as Batch;
  const plane: Partial<ControlPlane> = {
    name: "hub",
    state: () => ({ fresh, since: "2026-11-21T09:00:00.000Z" }),
    application: () => undefined,
    applications: () =>
      Object.entries(readers).map(
        ([name, sources]) => ({ namespace: "argocd", name, spec: { sources, sourceHydrator } }) as unknown as ApplicationView,
      ),
  };
  const synchronous: SyncFiles = { read: (path) => files[path] ?? null, paths: () => Object.keys(files) };
  const snapshot = { with: async (work: (all: SyncFiles) => unknown) => work(synchronous) } as unknown as Snapshot;
  return outsideReader({ planes: new Map([["hub", plane as ControlPlane]]), repoURL }, snapshot, run, batch, {
    baseBranch: "main",
    judge: async (_, { name }) => (name === "fleet" ? "unasked" : name === "asked" ? undefined : "noParent"),
  });
}

const manifest = (kind: string, name: string) =>
  `apiVersion: argoproj.io/v1alpha1\nkind: ${kind}\nmetadata: { name: ${name}, namespace: argocd }\n`;
const whole = { parent: [{ ...HERE, path: "." }] };
const values = { [FILE]: "image: { tag: v1.4.1 }\n" };

test("a plain folder that does not recurse passes by what lies below its top, unless Jsonnet or a plugin may ask for it", () => {
  const pin = "sets/envs/dev.json";
  const texts: Record<string, string> = { "sets/web.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\n", [pin]: "{}" };
  const reads = (directory: object | undefined, more: Record<string, string> = {}) => {
    const files = { ...texts, ...more };
    const repo: SyncFiles = { read: (path) => files[path] ?? null, paths: () => Object.keys(files) };
    const source = { ...HERE, path: "sets", ...(directory === undefined ? {} : { rest: { directory } }) };
    return readsFile([source], pin, { repoURL, baseBranch: "main" }, repo);
  };
  expect([reads({ recurse: false, include: "*.yaml" }), reads({}), reads(undefined)]).toEqual([false, false, false]);
  expect([
    reads({ recurse: true }),
    reads({}, { "sets/a.jsonnet": "import 'envs/dev.json'" }),
    reads({}, { "sets/web.yaml": "a: 1" }),
  ]).toEqual([true, true, true]);
});

describe("a batch that changes a file", () => {
  test("is refused where an Application outside it reads the file, and told which", async () => {
    const why = { code: "GUARD_READ_OUTSIDE", changed: FILE, application: "ledger", plane: "hub" };
    expect(await judge(values, { ledger: [{ ...HERE, path: "values" }] })).toEqual({ why, retry: false });
    // One that makes others is asked what comes of it, where it can be.
    const parentReads = { why: { ...why, code: "GUARD_PARENT_READS", application: "fleet" }, retry: false };
    expect(await judge(values, { asked: [{ ...HERE, path: "values" }], fleet: [{ ...HERE, path: "values" }] })).toEqual(parentReads);
    expect(await judge(values, { asked: [{ ...HERE, path: "values" }] })).toBeUndefined();
    // A target of the same run, in another batch.
    expect(await judge(values, { "payments-us-2": [{ ...HERE, path: "apps", ...helm(`/${FILE}`) }] })).toMatchObject({ retry: false });
  });

  test("is refused where one outside it is hydrated from the file, which is in no source that is synced", async () => {
    const synced = { ledger: [{ ...HERE, path: "ledger", targetRevision: "env/eu" }] };
    const sourceHydrator = {
      drySource: { ...HERE, path: "values", targetRevision: "main" },
      syncSource: { targetBranch: "env/eu", path: "ledger" },
    };
    expect(await judge(values, synced, { sourceHydrator })).toMatchObject({ retry: false });
    expect(await judge(values, synced, { sourceHydrator: { ...sourceHydrator, drySource: { ...HERE, path: "apps" } } })).toBeUndefined();
  });

  test("is not refused for its own Application, nor for one that reads something else", async () => {
    expect(await judge(values, { "payments-us-1": [{ ...HERE, path: "values" }], ledger: [{ ...HERE, path: "apps" }] })).toBeUndefined();
  });

  test("is not refused where the pin is per item of the file, or stands at the release already", async () => {
    const pin = { ...SHARED, path: "clusters[name={{ cluster.name }}].tag" };
    expect(await judge(values, whole, { pin })).toBeUndefined();
    expect(await judge(values, whole, { to: "v1.4.1" })).toBeUndefined();
    expect(await judge(values, whole, { pin: { ...SHARED, file: "values/{{ cluster.name }}.yaml" } })).toMatchObject({ retry: false });
  });

  test("is not refused for the parent that applies the file that declares what the run moves", async () => {
    const source = { kind: "Application" as const };
    expect(await judge({ "sets/a.yaml": manifest("ApplicationSet", "payments") }, whole)).toBeUndefined();
    expect(await judge({ "apps/us.yaml": manifest("Application", "payments-us-1") }, whole, { source })).toBeUndefined();
    expect(await judge({ "sets/a.yaml": manifest("ApplicationSet", "ledger") }, whole)).toMatchObject({ retry: false });
    expect(await judge({ "apps/us.yaml": manifest("Application", "ledger") }, whole, { source })).toMatchObject({ retry: false });
  });

  test("waits for a control plane that cannot be seen", async () => {
    expect(await judge(values, {}, { fresh: false })).toMatchObject({ retry: true });
  });
});
