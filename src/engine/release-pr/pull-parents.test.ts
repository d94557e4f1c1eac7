/** What a pull request would make of the parents of a rollout's sets and Applications, as Argo CD is asked. */
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { sampleRollout, sampleRun } from "../../../test/support/sample-run.ts";
import type { ControlPlane, ManifestsOutcome, RenderedObject } from "../../adapters/argocd/port.ts";
import { openMirror } from "../../adapters/git/mirror.ts";
import type { Mirror } from "../../adapters/git/port.ts";
import { git, type Workspace, workspace } from "../../adapters/git/testing/repositories.ts";
import { decodeApplication } from "../../core/argocd/decode/application.ts";
import type { ApplicationSetView, ApplicationView } from "../../core/argocd/views.ts";
import { sha256 } from "../../core/base/hash.ts";
import { planeReason } from "../../core/reasons/control-plane.ts";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import { fastClock } from "../../sim/clock.ts";
import { setsOfSource } from "../resolve/source-sets.ts";
import { type RepoContext, silentLog } from "../round/context.ts";
import { partsOf } from "../testing/parts.ts";
import { touchesOf } from "./judge-pull-touched.ts";
import { touchedParents, writtenOut } from "./pull-parents.ts";
import type { JudgedPull, PlanBase } from "./types.ts";
import { openUnstagedJudge } from "./unstaged.ts";

const URL = "https://github.example/org/config";
const VALUES = "fleet/values.yaml";
type Json = Record<string, unknown>;
type Values = { path: string; other?: string; gone?: boolean; generators?: unknown[] };

const head = (kind: string, name: string) => ({ apiVersion: "argoproj.io/v1alpha1", kind, metadata: { name, namespace: "argocd" } });
const specOf = (path: string, cluster: string) => ({
  project: "default",
  source: { repoURL: URL, path, targetRevision: "v1" },
  destination: { name: cluster },
});
const elements = [{ cluster: "eu-1" }, { cluster: "us-1" }];
const setOf = ({ path, generators = [{ list: { elements } }] }: Values): Json => ({
  ...head("ApplicationSet", "payments"),
  spec: { generators, template: { metadata: { name: "payments-{{cluster}}" }, spec: specOf(path, "{{cluster}}") } },
});
const childOf = ({ path }: Values): Json => ({ ...head("Application", "payments-eu-1"), spec: specOf(path, "eu-1") });
/** A team of its own, beside the rollout's. */
const ledgerOf = ({ other = "x" }: Values): Json => ({ ...head("Application", "ledger"), spec: specOf(other, "eu-1") });

function rendered(object: Json): RenderedObject {
  const { name, namespace } = object["metadata"] as { name: string; namespace: string };
  const kind = String(object["kind"]);
  return { kind: `argoproj.io/${kind}`, namespace, name, digest: sha256(JSON.stringify(object)), argo: { kind, object } };
}

function viewOf(object: Json, name: string, more: Partial<ApplicationView> = {}): ApplicationView {
  const metadata = { name, namespace: "argocd", uid: name, resourceVersion: "1" };
  return { ...(decodeApplication({ ...object, metadata }, 0) as ApplicationView), ...more };
}

const opened: { repo: Workspace; mirror: Mirror }[] = [];

afterEach(async () => {
  for (const { repo, mirror } of opened.splice(0)) {
    await mirror.close();
    repo.remove();
  }
});

interface World {
  /** As the pull request leaves it. */
  values?: Partial<Values>;
  /** Other files that it changes. */
  changes?: Record<string, string>;
  /** What the base has got since the branch was made. */
  since?: Record<string, string>;
  kind?: "ApplicationSet" | "Application";
  isFork?: boolean;
  unasked?: boolean;
  bypass?: "counts";
  answers?: (isHead: boolean, revisions: readonly string[]) => ManifestsOutcome | undefined;
  /** Files that the base has besides. */
  files?: Record<string, string>;
  /** The parent's folder gives what stands in it. */
  plain?: boolean;
  /** Nobody knows who applies the rollout's Application. */
  untracked?: boolean;
}

async function judged(world: World = {}) {
  const { kind = "ApplicationSet" } = world;
  const chart = { "fleet/Chart.yaml": "name: fleet\n", "fleet/templates/set.yaml": "kind: {{ .Values.kind }}\n", "fleet/README.md": "x\n" };
  const values: Values = { path: "apps" };
  const repo = workspace({ ...(world.plain === true ? {} : chart), ...world.files, [VALUES]: JSON.stringify(values), "README.md": "x\n" });
  const mirror = await openMirror({ directory: join(repo.directory, "mirror"), url: repo.origin, allowFile: true });
  opened.push({ repo, mirror });
  const own = world.values === undefined ? {} : { [VALUES]: JSON.stringify({ ...values, ...world.values }) };
  git(repo.checkout, "checkout", "-q", "-b", "change");
  repo.commitFiles({ ...own, ...world.changes }, "change");
  git(repo.checkout, "checkout", "-q", "main");
  if (world.since !== undefined) repo.commitFiles(world.since);
  await mirror.fetch(["main", "change"]);
  const [base, tip] = [(await mirror.head("main")) ?? "", (await mirror.head("change")) ?? ""];
  const merged = await mirror.mergeTree(base, tip);
  if ("conflicts" in merged) throw new Error("it conflicts");
  const makes = (given: Values) => (given.gone ? [] : [kind === "Application" ? childOf(given) : setOf(given)]).concat(ledgerOf(given));
  const fleet = { spec: { project: "default", source: { repoURL: URL, path: "fleet", targetRevision: "main" }, destination: {} } };
  const appliedBy = { name: "fleet" };
  const child = viewOf(childOf(values), "payments-eu-1", { ...(world.untracked !== true && { appliedBy }), labels: { app: "payments" } });
  const applications = [viewOf(fleet, "fleet"), ...(kind === "Application" ? [child] : [])];
  const asked: string[] = [];
  const set = { resourceVersion: "1", spec: setOf(values)["spec"], appliedBy } as unknown as ApplicationSetView;
  const plane: Partial<ControlPlane> = {
    name: "hub",
    state: () => ({ fresh: true, since: "2026-11-21T09:00:00.000Z" }),
    applicationSet: (_, name) => (kind === "ApplicationSet" && name === "payments" ? set : undefined),
    applications: (owner) => (owner === undefined ? applications : []),
    application: (_, name) => applications.find((one) => one.name === name),
    clusters: () => [],
  };
  if (world.unasked !== true)
    plane.manifests = async (_, name, revisions) => {
      const [commit = ""] = revisions;
      asked.push(`${name} ${commit === tip ? "head" : commit === base ? "base" : commit}`);
      const given = world.answers?.(commit === tip, revisions);
      if (given !== undefined) return given;
      const text = (await mirror.readFiles(commit, [VALUES])).get(VALUES) ?? "";
      return { kind: "done", objects: makes(parse(text) as Values).map(rendered) };
    };
  const planes = new Map([["hub", plane]]);
  const context = { mirror, planes, clock: fastClock(), log: silentLog, repoURL: URL } as unknown as RepoContext;
  const { commits } = partsOf({ mirror });
  const [before, after] = [commits.snapshot(base), commits.snapshot(merged.tree)];
  const selector = kind === "Application" ? { matchLabels: { app: "payments" }, matchExpressions: [] } : undefined;
  const source = { ...sampleRollout().source, kind, name: selector ? "" : "payments", selector, controlPlanes: ["hub"] };
  const rollout = sampleRollout({ source } as never);
  const touched = await mirror.changedPaths(base, merged.tree);
  const parents = await touchedParents(context.planes, rollout, touched, [before, after], { repoURL: URL, baseBranch: "main" });
  const sets = setsOfSource(context.planes, rollout).map(({ ref }) => ref);
  const written = writtenOut(context.planes, rollout);
  const declared = await touchesOf({ ...rollout, pins: [] }, sets, touched, before, after, written);
  const touches = { ...declared, ...(parents.length > 0 && { parents }) };
  const pull = { number: 1, head: tip, isFork: world.isFork ?? false, bypass: world.bypass, touched, tree: merged.tree } as JudgedPull;
  const question = { base: { commit: base, branch: "main" } as PlanBase, pull, before, after, touches, isRelease: false };
  const run = sampleRun({ spec: rollout });
  const judge = openUnstagedJudge(context, async () => ({ ok: false, retry: false, problems: [] }));
  const found = await judge(rollout, run.release, { ...question, plan: run.plan });
  return { found, asked };
}

const UNTOLD = (kind: string, object = "") => ({ code: "UNSTAGED_UNTOLD", plane: "hub", parent: "fleet", kind, object });
const NOTE = (because: unknown) => ({ found: { waiting: undefined, notes: [{ code: "NOTE_UNSTAGED_UNTOLD", because }] } });

test.each(["ApplicationSet", "Application"] as const)("what a parent's values would change of a rollout's %s is UNSTAGED", async (kind) => {
  const { found, asked } = await judged({ kind, values: { path: "other" } });
  expect(found).toMatchObject({ refused: true, line: expect.stringMatching(/UNSTAGED.*(eu-1|payments-eu-1).*spec\.source\.path/s) });
  expect(asked).toEqual(["fleet base", "fleet head"]);
  expect((await judged({ kind, values: { gone: true } })).found).toMatchObject({ line: expect.stringContaining("would be deleted") });
});

test("what it changes for others is none of the rollout's, and what the parent is not made from is not asked", async () => {
  expect(await judged({ values: { other: "y" } })).toEqual({ found: undefined, asked: ["fleet base", "fleet head"] });
  expect(await judged({ changes: { "fleet/README.md": "y\n", "apps.yaml": "a: 1\n" } })).toEqual({ found: undefined, asked: [] });
});

test("Argo CD is never asked about a fork's head, and that is said", async () => {
  const forked = await judged({ values: { path: "other" }, isFork: true });
  expect(forked).toMatchObject({ ...NOTE(UNTOLD("Fork")), asked: [] });
});

test("where nobody can be asked, or would answer, that is said", async () => {
  expect(await judged({ values: { path: "other" }, unasked: true })).toMatchObject(NOTE(UNTOLD("Unasked")));
  const forbidden = { kind: "forbidden", why: planeReason("ANSWER_BROKEN", {}) } as const;
  expect(await judged({ values: { path: "other" }, answers: () => forbidden })).toMatchObject(NOTE(UNTOLD("Unasked")));
});

test("a branch that lacks what the base has changed of the parent waits; what else the base has changed does not matter", async () => {
  const changes = { "fleet/templates/more.yaml": "a: 1\n" };
  const behind = await judged({ changes, since: { [VALUES]: JSON.stringify({ path: "moved" }) } });
  expect(behind).toMatchObject({ found: { waiting: UNTOLD("Behind", VALUES), notes: [] }, asked: [] });
  const other = await judged({ values: { path: "other" }, since: { "README.md": "y\n" } });
  expect(other.found).toMatchObject({ line: expect.stringContaining("UNSTAGED") });
});

test("an Argo CD that fails, or renders nothing, is waited for, but where the label says that it is meant", async () => {
  const failed = { kind: "failed", why: planeReason("ANSWER_BROKEN", {}) } as const;
  const values = { path: "other" };
  const waits = await judged({ values, answers: (isHead) => (isHead ? failed : undefined) });
  expect(waits.found).toMatchObject({ waiting: { code: "PARENT_UNRENDERED" }, notes: [] });
  const empty = { kind: "done", objects: [] } as const;
  expect((await judged({ values, answers: (isHead) => (isHead ? empty : undefined) })).found).toMatchObject({ waiting: UNTOLD("Empty") });
  const meant = await judged({ values, bypass: "counts", answers: (isHead) => (isHead ? failed : undefined) });
  expect(meant).toMatchObject({ found: { waiting: undefined, notes: [{ because: { code: "PARENT_UNRENDERED" } }] } });
});

test("an answer without the rollout's own set, and a set that cannot be worked out, are said", async () => {
  const others = { kind: "done", objects: [rendered(ledgerOf({ path: "apps" }))] } as const;
  const missing = UNTOLD("Missing", "ApplicationSet argocd/payments");
  expect(await judged({ values: { path: "other" }, answers: () => others })).toMatchObject(NOTE(missing));
  const plugin = { generators: [{ plugin: { configMapRef: { name: "x" } } }] };
  expect(await judged({ values: plugin })).toMatchObject(NOTE(UNTOLD("Generators", "ApplicationSet payments")));
});

describe("Applications that stand written out in the plain folder of a parent", () => {
  const FILE = "fleet/eu.yaml";
  const text = (path: string) => JSON.stringify(childOf({ path }));
  const world = {
    kind: "Application",
    plain: true,
    unasked: true,
    files: { [FILE]: `${text("apps")}\n---\n${JSON.stringify(ledgerOf({ path: "" }))}\n` },
  } as const;

  test("are UNSTAGED where a pull request changes or removes them, without asking anybody", async () => {
    const changed = await judged({ ...world, changes: { [FILE]: `${JSON.stringify(ledgerOf({ path: "" }))}\n---\n${text("other")}\n` } });
    expect(changed.found).toMatchObject({ refused: true, line: expect.stringMatching(/UNSTAGED.*payments-eu-1.*spec\.source\.path/s) });
    expect(changed.asked).toEqual([]);
    const gone = await judged({ ...world, changes: { [FILE]: `${JSON.stringify(ledgerOf({ path: "" }))}\n` } });
    expect(gone.found).toMatchObject({ line: expect.stringContaining("would be deleted") });
  });

  test("are not where it moves them to another file, or changes another team's beside them", async () => {
    const moved = { [FILE]: `${JSON.stringify(ledgerOf({ path: "" }))}\n`, "fleet/payments.yaml": text("apps") };
    expect((await judged({ ...world, changes: moved })).found).toBeUndefined();
    const beside = { [FILE]: `${text("apps")}\n---\n${JSON.stringify(ledgerOf({ path: "", other: "y" }))}\n` };
    expect((await judged({ ...world, changes: beside })).found).toBeUndefined();
  });

  test("are left to whoever renders them where kustomize or a chart takes the file", async () => {
    const files = { ...world.files, "fleet/kustomization.yaml": "resources: [eu.yaml]\n" };
    const { found } = await judged({ ...world, files, changes: { [FILE]: text("other") } });
    expect(found).toEqual({ waiting: undefined, notes: [{ code: "NOTE_UNSTAGED_UNTOLD", because: UNTOLD("Unasked") }] });
    const untracked = { ...world, untracked: true, changes: { [FILE]: text("other") } };
    expect((await judged({ ...untracked, files })).found).toBeUndefined();
    expect((await judged(untracked)).found).toMatchObject({ refused: true });
  });
});

describe("a pull request that changes what a parent itself is", () => {
  const ROOT = "root/fleet.yaml";
  const fleetOf = (source: Json) => {
    const spec = { project: "default", source: { repoURL: URL, path: "fleet", targetRevision: "main", ...source }, destination: {} };
    return JSON.stringify({ ...head("Application", "fleet"), spec });
  };
  const files = { [ROOT]: fleetOf({}) };

  test("is UNSTAGED where the rollout's own stand otherwise in its new folder, without asking anybody", async () => {
    const plain = {
      ...({ kind: "Application", plain: true, unasked: true } as const),
      files: { ...files, "fleet/eu.yaml": JSON.stringify(childOf({ path: "apps" })) },
    };
    const to = (path: string, there: string) => ({
      [ROOT]: fleetOf({ path }),
      [`${path}/eu.yaml`]: JSON.stringify(childOf({ path: there })),
    });
    const moved = await judged({ ...plain, changes: to("next", "other") });
    expect(moved.found).toMatchObject({ refused: true, line: expect.stringMatching(/UNSTAGED.*payments-eu-1.*spec\.source\.path/s) });
    expect((await judged({ ...plain, changes: to("next", "apps") })).found).toBeUndefined();
    const empty = await judged({ ...plain, changes: { [ROOT]: fleetOf({ path: "nothing" }) } });
    expect(empty.found).toMatchObject({ line: expect.stringContaining("would be deleted") });
    // Who syncs, and how, is no matter of where its children come from.
    const policy = JSON.stringify({ ...JSON.parse(fleetOf({})), spec: { ...JSON.parse(fleetOf({})).spec, syncPolicy: { automated: {} } } });
    expect((await judged({ ...plain, changes: { [ROOT]: policy } })).found).toBeUndefined();
  });

  test("is asked of Argo CD where its revision alone changes", async () => {
    const at = (path: string) => ({ kind: "done", objects: [setOf({ path }), ledgerOf({ path })].map(rendered) }) as const;
    const asked: (readonly string[])[] = [];
    const answers = (_: boolean, revisions: readonly string[]) => {
      asked.push(revisions);
      return at(revisions[0] === "v2" ? "other" : "apps");
    };
    const { found } = await judged({ files, changes: { [ROOT]: fleetOf({ targetRevision: "v2" }) }, answers });
    expect(found).toMatchObject({ refused: true, line: expect.stringMatching(/UNSTAGED.*spec\.source\.path/s) });
    expect(asked).toEqual([[expect.stringMatching(/^[0-9a-f]{40}$/)], ["v2"]]);
    const forked = await judged({ files, changes: { [ROOT]: fleetOf({ targetRevision: "v2" }) }, answers, isFork: true });
    expect(forked).toMatchObject(NOTE(UNTOLD("Fork", ROOT)));
  });

  test("is said not to be known where Argo CD cannot tell, with what to do", async () => {
    for (const source of [{ helm: { valuesObject: { a: 1 } } }, { path: "next" }]) {
      const { found, asked } = await judged({ files, changes: { [ROOT]: fleetOf(source) } });
      expect({ found }).toMatchObject(NOTE(UNTOLD("Spec", ROOT)));
      expect(asked).toEqual([]);
    }
    expect(await judged({ files, changes: { [ROOT]: "" } })).toMatchObject(NOTE(UNTOLD("Spec", ROOT)));
    const answers = () => ({ kind: "done", objects: [rendered(ledgerOf({ path: "" }))] }) as const;
    const strange = await judged({ files, changes: { [ROOT]: fleetOf({ targetRevision: "v2" }) }, answers });
    expect(strange).toMatchObject(NOTE(UNTOLD("Missing", "ApplicationSet argocd/payments")));
    const [note] = (await judged({ files, changes: { [ROOT]: "" } })).found?.notes ?? [];
    expect(note && sentenceOf(note)).toMatch(/instead of its spec, or .*`stagecoach\/bypass`/);
  });
});
