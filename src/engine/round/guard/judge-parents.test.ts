/** Sets and Applications that a parent renders: what Argo CD makes of the base and of the batch's commit decides. */
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { batchTarget, sampleRollout, sampleRun } from "../../../../test/support/sample-run.ts";
import type { ControlPlane, ManifestsOutcome, RenderedObject } from "../../../adapters/argocd/port.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import { type Workspace, workspace } from "../../../adapters/git/testing/repositories.ts";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { ApplicationSetView, ApplicationView } from "../../../core/argocd/views.ts";
import { sha256 } from "../../../core/base/hash.ts";
import { planeReason } from "../../../core/reasons/control-plane.ts";
import type { Batch } from "../../../core/run/state/run.ts";
import { fastClock } from "../../../sim/clock.ts";
import { partsOf } from "../../testing/parts.ts";
import { openBatchCommits } from "../act/batch-commit.ts";
import { type RepoContext, silentLog } from "../context.ts";
import { openGuard } from "./guard.ts";

const URL = "https://github.example/org/config";
const VALUES = "fleet/values.yaml";
type Json = Record<string, unknown>;
/** `clusters`: by cluster its version; anything else is a parent's own. */
type Values = { clusters: Record<string, string>; other?: string };

const valuesText = (versions: Record<string, string>, other = "x") =>
  `clusters:\n${Object.entries(versions)
    .map(([name, version]) => `  ${name}: ${version}\n  # of\n  # another\n  # team\n`)
    .join("")}other: ${other}\n`;
const specOf = (cluster: string, version: string) => ({
  project: "default",
  source: { repoURL: URL, path: "apps/payments", targetRevision: version },
  destination: { name: cluster, namespace: "payments" },
});
const setOf = ({ clusters }: Values): Json => ({
  apiVersion: "argoproj.io/v1alpha1",
  kind: "ApplicationSet",
  metadata: { name: "payments", namespace: "argocd" },
  spec: {
    generators: [{ list: { elements: Object.entries(clusters).map(([cluster, version]) => ({ cluster, version })) } }],
    template: { metadata: { name: "payments-{{cluster}}" }, spec: specOf("{{cluster}}", "{{version}}") },
  },
});
const childOf = ([cluster, version]: [string, string]): Json => ({
  apiVersion: "argoproj.io/v1alpha1",
  kind: "Application",
  metadata: { name: `payments-${cluster}`, namespace: "argocd" },
  spec: specOf(cluster, version),
});
const asSet = (values: Values) => [setOf(values)];
const asChildren = ({ clusters }: Values) => Object.entries(clusters).map(childOf);

function rendered(object: Json): RenderedObject {
  const { name, namespace = "" } = object["metadata"] as { name: string; namespace?: string };
  const kind = String(object["kind"]);
  const isArgo = String(object["apiVersion"]).startsWith("argoproj.io/");
  const common = { kind: isArgo ? `argoproj.io/${kind}` : kind, namespace, name, digest: sha256(JSON.stringify(object)) };
  return isArgo ? { ...common, argo: { kind, object } } : common;
}

let repo: Workspace;
let mirror: Mirror;

afterEach(async () => {
  await mirror.close();
  repo.remove();
});

interface World {
  makes?: (values: Values) => Json[];
  /** What Argo CD answers in the place of what it would render. */
  answers?: (commit: string, at: { base: string; head: string }) => ManifestsOutcome | undefined;
  kind?: "ApplicationSet" | "Application";
  unpushed?: true;
  /** Values that somebody else commits after the batch was built. */
  since?: Record<string, string>;
  /** Versions as they live. */
  live?: Record<string, string>;
  more?: ApplicationView[];
  unasked?: boolean;
  unverified?: boolean;
  /** What becomes of the Applications before the same is asked again. */
  afterwards?: (applications: ApplicationView[]) => void;
}

const BEFORE = { "eu-1": "v1.4.1", "us-1": "v1.4.1" };
const appliedBy = { name: "fleet" };

function applicationOf(object: Json, more: Partial<ApplicationView> = {}): ApplicationView {
  return { ...(decodeApplication(object, 0) as ApplicationView), uid: String((object["metadata"] as Json)["name"]), ...more };
}

const PARENT = applicationOf({
  metadata: { name: "fleet", namespace: "argocd", uid: "fleet", resourceVersion: "1" },
  spec: { project: "default", source: { repoURL: URL, path: "fleet", targetRevision: "main" }, destination: { name: "in-cluster" } },
});

async function guarded(world: World): Promise<unknown> {
  const { makes = asSet, kind = "ApplicationSet", live = BEFORE } = world;
  const chart = {
    "fleet/Chart.yaml": "name: fleet\nversion: 1.0.0\n",
    "fleet/templates/set.yaml": "kind: ApplicationSet\nname: payments\n",
  };
  repo = workspace({ ...chart, [VALUES]: valuesText(BEFORE) });
  mirror = await openMirror({ directory: join(repo.directory, "mirror"), url: repo.origin, allowFile: true });
  await mirror.fetch(["main"]);
  const at = { base: (await mirror.head("main")) ?? "", head: "" };
  const made = makes({ clusters: live, other: "x" });
  const children = made.filter((one) => one["kind"] === "Application");
  const view = (object: Json) =>
    applicationOf({ ...object, metadata: { ...(object["metadata"] as Json), uid: "u", resourceVersion: "1" } }, { appliedBy });
  const applications = [PARENT, ...children.map(view), ...(world.more ?? [])];
  const set = made.find((one) => one["kind"] === "ApplicationSet");
  const plane: Partial<ControlPlane> = {
    name: "hub",
    state: () => ({ fresh: true, since: "2026-11-21T09:00:00.000Z" }),
    applicationSet: (_, name) =>
      set === undefined || name !== "payments" ? undefined : ({ resourceVersion: "1", spec: set["spec"], appliedBy } as ApplicationSetView),
    applications: (owner) => (owner === undefined ? applications : []),
    application: (namespace, name) => applications.find((one) => one.namespace === namespace && one.name === name),
    clusters: () => [],
  };
  const asked: string[] = [];
  if (world.unasked !== true)
    plane.manifests = async (_, name, [commit = ""]) => {
      asked.push(`${name} ${commit}`);
      const given = world.answers?.(commit, at);
      if (given !== undefined) return given;
      const text = (await mirror.readFiles(commit, [VALUES])).get(VALUES) ?? "";
      return { kind: "done", objects: makes(parse(text) as Values).map(rendered) };
    };
  const context = {
    ...{ mirror, clock: fastClock(), planes: new Map([["hub", plane]]), log: silentLog, repoURL: URL },
    author: { name: "Bot", email: "b@example.com" },
  } as unknown as RepoContext;
  const { commits, remote } = partsOf({ mirror });
  const edits = [{ kind: "value" as const, file: VALUES, path: "clusters.us-1", from: "v1.4.1", to: "v1.4.2" }];
  const targets = [{ ...batchTarget("us-1", "Pending"), edits }];
  const selector = kind === "Application" ? { matchLabels: {}, matchExpressions: [] } : undefined;
  const source = { ...sampleRollout().source, kind, selector, controlPlanes: ["hub"], unverified: world.unverified ?? false };
  const sample = sampleRun({ spec: sampleRollout({ source } as never) });
  const stages = sample.plan.stages.map((stage) => ({ ...stage, batches: [{ clusters: [], targets }], requeuedTargets: [] }));
  const { pull: _pull, merged: _merged, ...last } = sample.batches.at(-1) as Batch;
  const batch = { ...last, phase: "Open", targets } as Batch;
  const run = { ...sample, plan: { ...sample.plan, stages }, batches: [batch] };
  at.head = (await openBatchCommits(context, commits, remote).build(run, batch, at.base)) ?? "";
  if (world.since !== undefined) {
    repo.commitFiles({ [VALUES]: valuesText(world.since) });
    await mirror.fetch(["main"]);
    at.base = (await mirror.head("main")) ?? "";
  }
  const judge = openGuard(context, commits);
  const ask = () => judge(run, batch, { ...at, baseBranch: "main", unpushed: world.unpushed });
  const first = await ask();
  world.afterwards?.(applications);
  const guard = world.afterwards === undefined ? first : await ask();
  return guard.ok ? "ok" : { ...guard.why, retry: guard.retry };
}

const VALUE_OF_ALL = { ...BEFORE, "us-1": "v1.4.2" };

const failed = (code: string): ManifestsOutcome => ({ kind: "failed", why: planeReason("PROGRAM_SAYS", { message: code }) });

describe("a set that a parent makes of values", () => {
  test("passes where what Argo CD renders changes the batch's Application alone", async () => {
    expect(await guarded({})).toBe("ok");
  });

  test("is proposed before its commit can be asked about", async () => {
    expect(await guarded({ unpushed: true })).toBe("ok");
  });

  test.each<[string, World, Json]>([
    [
      "another Application of the set changes",
      { makes: (values) => asSet({ clusters: { "eu-1": values.clusters["us-1"] ?? "", "us-1": values.clusters["us-1"] ?? "" } }) },
      { code: "GUARD_CHANGES", application: "payments-eu-1", retry: false },
    ],
    [
      "an object that is no Application changes",
      {
        makes: (values) => [
          ...asSet(values),
          { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "all", namespace: "argocd" }, data: values.clusters },
        ],
      },
      { code: "PARENT_CHANGES", object: "ConfigMap argocd/all", does: "changes", retry: false },
    ],
    [
      "the labels of another set change",
      {
        makes: (values) => [
          ...asSet(values),
          { ...setOf({ clusters: {} }), metadata: { name: "ledger", namespace: "argocd", labels: { of: values.clusters["us-1"] } } },
        ],
      },
      { code: "PARENT_CHANGES", object: "ApplicationSet argocd/ledger", does: "changes", retry: false },
    ],
    [
      "another set changes",
      {
        makes: (values) => [
          ...asSet(values),
          { ...setOf(values), metadata: { name: "ledger", namespace: "argocd" }, spec: { generators: [values.clusters] } },
        ],
      },
      { code: "PARENT_CHANGES", object: "ApplicationSet argocd/ledger", does: "changes", retry: false },
    ],
    [
      "the set is gone with it",
      { makes: (values) => (values.clusters["us-1"] === "v1.4.2" ? [childOf(["eu-1", "v1"])] : asSet(values)) },
      { code: "PARENT_CHANGES", does: "removes", retry: false },
    ],
    [
      "an Application of it is gone with it",
      { makes: (values) => asSet({ clusters: Object.fromEntries(Object.entries(values.clusters).filter(([, v]) => v !== "v1.4.2")) }) },
      { code: "GUARD_DELETES", applications: ["payments-us-1"], retry: false },
    ],
  ])("is refused where %s", async (_, world, why) => {
    expect(await guarded(world)).toMatchObject(why);
  });

  test.each<[string, World, Json]>([
    [
      "it lives otherwise than the base gives it",
      { live: { ...BEFORE, "eu-1": "v9" } },
      { code: "GUARD_SET_DIFFERS", parent: "fleet", field: "spec.generators[0].list.elements[0].version" },
    ],
    ["Argo CD fails", { answers: () => failed("timeout") }, { code: "PARENT_UNRENDERED", parent: "fleet" }],
    [
      "Argo CD fails for the batch's commit",
      { answers: (commit, { head }) => (commit === head ? failed("timeout") : undefined) },
      { code: "PARENT_UNRENDERED" },
    ],
    ["the parent renders nothing", { answers: () => ({ kind: "done", objects: [] }) }, { code: "PARENT_EMPTY", with: "base" }],
    [
      "the parent would render nothing",
      { answers: (commit, { head }) => (commit === head ? { kind: "done", objects: [] } : undefined) },
      { code: "PARENT_EMPTY", with: "batch" },
    ],
    [
      "Argo CD answers the base for the batch's commit",
      {
        answers: (commit, { head }) => (commit === head ? { kind: "done", objects: asSet({ clusters: BEFORE }).map(rendered) } : undefined),
      },
      { code: "PARENT_SHOWS_NOTHING", application: "payments-us-1", to: "v1.4.2" },
    ],
    [
      "Argo CD answers another commit that changes the same",
      {
        answers: (commit, { head }) =>
          commit === head ? { kind: "done", objects: asSet({ clusters: { ...BEFORE, "us-1": "v1.4.3" } }).map(rendered) } : undefined,
      },
      { code: "PARENT_SHOWS_NOTHING", application: "payments-us-1" },
    ],
    [
      "Argo CD answers another commit for the base",
      {
        answers: (commit, { base }) =>
          commit === base ? { kind: "done", objects: asSet({ clusters: { "us-1": "v1" } }).map(rendered) } : undefined,
      },
      { code: "GUARD_CREATES" },
    ],
  ])("waits or is refused, and never passes, where %s", async (_, world, why) => {
    expect(await guarded(world)).toMatchObject(why);
  });

  test("takes in what others have changed on the base meanwhile, but nothing at the same place", async () => {
    const since = { ...BEFORE, "eu-1": "v1.5.0" };
    expect(await guarded({ since, live: since })).toBe("ok");
    const gone = { ...VALUE_OF_ALL, "us-1": "v1.4.1", "ap-1": "v1" };
    expect(await guarded({ since: gone, live: gone })).toMatchObject({
      code: "PARENT_MOVED",
      object: "ApplicationSet argocd/payments",
      retry: true,
    });
  });

  test("goes by what lives where nobody can be asked, and says the ways out; unverified goes on", async () => {
    const made = { code: "GUARD_SET_MADE", changed: VALUES, by: "helm", retry: false };
    expect(await guarded({ unasked: true })).toMatchObject(made);
    const refused = planeReason("PROGRAM_SAYS", { message: "permission denied" });
    expect(await guarded({ answers: () => ({ kind: "forbidden", why: refused }) })).toMatchObject(made);
    expect(await guarded({ answers: () => failed("timeout"), unverified: true })).toBe("ok");
  });
});

/** Children of which some bear the version of one of them. */
function labelled({ clusters }: Values, bears: (name: string) => boolean, as: "labels" | "finalizers" = "labels"): Json[] {
  const version = clusters["us-1"] ?? "";
  return Object.entries(clusters).map((one): Json => {
    const child = childOf(one);
    const more = as === "labels" ? { labels: { of: version } } : { finalizers: [version] };
    return bears(one[0]) ? { ...child, metadata: { ...(child["metadata"] as Json), ...more } } : child;
  });
}

describe("Applications that a parent makes of values", () => {
  const world: World = { kind: "Application", makes: asChildren };

  test("pass where the batch's own labels change with its version, also beside labels that others change meanwhile", async () => {
    const makes = (values: Values) => labelled(values, (name) => name === "us-1");
    expect(await guarded({ ...world, makes })).toBe("ok");
    const since = { ...BEFORE, "eu-1": "v1.5.0" };
    expect(await guarded({ ...world, makes, since, live: since })).toBe("ok");
    const noted = (values: Values) =>
      labelled(values, (name) => name === "us-1", "finalizers").map((child) => {
        return { ...child, metadata: { ...(child["metadata"] as Json), annotations: { eu: values.clusters["eu-1"] } } };
      });
    expect(await guarded({ ...world, makes: noted, since, live: since })).toMatchObject({ code: "GUARD_MOVES" });
  });

  test("pass where the batch's alone changes, though the parent reads the pin's file", async () => {
    expect(await guarded(world)).toBe("ok");
    expect(await guarded({ ...world, unpushed: true })).toBe("ok");
  });

  test.each<[string, World, Json]>([
    [
      "another one changes",
      { makes: ({ clusters }) => Object.keys(clusters).map((name) => childOf([name, clusters["us-1"] ?? ""])) },
      { code: "GUARD_CHANGES", application: "payments-eu-1" },
    ],
    [
      "its destination changes",
      {
        makes: ({ clusters }) =>
          Object.entries(clusters).map(([name, version]) => ({
            ...childOf([name, version]),
            spec: specOf(version === "v1.4.2" ? "eu-9" : name, version),
          })),
      },
      { code: "GUARD_MOVES", field: "spec.destination.name" },
    ],
    [
      "a label of another changes",
      { makes: (values) => labelled(values, (name) => name === "eu-1") },
      { code: "GUARD_CHANGES", application: "payments-eu-1", field: "metadata.labels.of", retry: false },
    ],
    [
      "its finalizers change",
      { makes: (values) => labelled(values, (name) => name === "us-1", "finalizers") },
      { code: "GUARD_MOVES", application: "payments-us-1", field: "metadata.finalizers[0]", retry: false },
    ],
    ["it lives otherwise", { live: { ...BEFORE, "us-1": "v9" } }, { code: "CHILD_DIFFERS", application: "payments-us-1", retry: true }],
    [
      "the answer shows nothing of the batch",
      {
        answers: (commit, { head }) =>
          commit === head ? { kind: "done", objects: asChildren({ clusters: BEFORE }).map(rendered) } : undefined,
      },
      { code: "PARENT_SHOWS_NOTHING", retry: true },
    ],
    [
      "one that lives is not among them",
      {
        more: [
          applicationOf(
            { ...childOf(["old", "v1"]), metadata: { name: "old", namespace: "argocd", uid: "o", resourceVersion: "1" } },
            { appliedBy },
          ),
        ],
      },
      { code: "GUARD_LOSES", application: "old" },
    ],
    ["nobody can be asked", { unasked: true }, { code: "GUARD_PARENT_READS", application: "fleet", changed: VALUES, retry: false }],
  ])("are refused or wait where %s", async (_, more, why) => {
    expect(await guarded({ ...world, ...more })).toMatchObject(why);
  });

  test("are judged anew at once where they or their parent live otherwise by now", async () => {
    const put = (name: string, spec: object) => (applications: ApplicationView[]) => {
      const index = applications.findIndex((one) => one.name === name);
      const one = applications[index] as ApplicationView;
      applications[index] = { ...one, spec: { ...one.spec, ...spec } };
    };
    const other = decodeApplication(childOf(["us-1", "v9"]), 0)?.spec ?? {};
    expect(await guarded({ ...world, afterwards: put("payments-us-1", other) })).toMatchObject({ code: "CHILD_DIFFERS" });
    let isMoved = false;
    const move = put("fleet", { sources: [{ repoURL: URL, path: "fleet", targetRevision: "main", rest: { helm: {} } }] });
    const answers = () => (isMoved ? failed("timeout") : undefined);
    const afterwards = (applications: ApplicationView[]) => {
      isMoved = true;
      move(applications);
    };
    expect(await guarded({ ...world, answers, afterwards })).toMatchObject({ code: "PARENT_UNRENDERED" });
  });

  test("pass beside one of the same name in another namespace, and not for it", async () => {
    const twin = (version = "") => ({ ...childOf(["us-1", version]), metadata: { name: "payments-us-1", namespace: "other" } });
    const beside = (version: string) => (values: Values) => [...asChildren(values), twin(version)];
    expect(await guarded({ ...world, makes: beside("v1") })).toBe("ok");
    const stale: World["answers"] = (commit, { head }) =>
      commit === head ? { kind: "done", objects: beside("v1")({ clusters: BEFORE }).map(rendered) } : undefined;
    expect(await guarded({ ...world, makes: beside("v1"), answers: stale })).toMatchObject({ code: "PARENT_SHOWS_NOTHING" });
    const both = (values: Values) => [...asChildren(values), twin(values.clusters["us-1"])];
    expect(await guarded({ ...world, makes: both })).toMatchObject({ code: "GUARD_CHANGES", application: "other/payments-us-1" });
    const alone = ({ clusters }: Values) => [childOf(["eu-1", "v1.4.1"]), twin(clusters["us-1"])];
    expect(await guarded({ ...world, makes: alone })).toMatchObject({ code: "GUARD_CHANGES", application: "payments-us-1" });
  });
});
