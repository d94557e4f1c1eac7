import { beforeEach, describe, expect, test } from "vitest";
import type { ContentOutcome, ControlPlane } from "../../../adapters/argocd/port.ts";
import { COMMIT, LATER, MERGED, merged, OLDER, REPO, rawApplication } from "../../../adapters/argocd/testing/application.ts";
import type { CommitInfo, Mirror } from "../../../adapters/git/port.ts";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { ApplicationSetView, ApplicationView, SyncWindowsView } from "../../../core/argocd/views.ts";
import { said } from "../../../core/reasons/run.ts";
import type { Batch, BatchTarget, Run } from "../../../core/run/state/run.ts";
import type { Assessment } from "../../../core/run/state/world.ts";
import { type Parts, partsOf } from "../../testing/parts.ts";
import { type RepoContext, silentLog } from "../context.ts";
import { setKey } from "../guard/refresh.ts";
import type { RenderedAround } from "./judge-targets.ts";

type Raw = Record<string, unknown>;
const KEY = "hub/argocd/payments";
const FILE = "clusters/eu-1/values.yaml";

/** What the world of a test holds; everything may be changed between two looks. */
interface Bench {
  now: number;
  applications: Map<string, ApplicationView>;
  sets: Map<string, ApplicationSetView>;
  windows: SyncWindowsView | undefined;
  /** `part in whole`. */
  ancestry: Map<string, boolean>;
  /** `commit` → text of the pin's file. */
  files: Map<string, string>;
  tags: Map<string, string>;
  asked: string[];
  /** What is said of an Application's objects; undefined: nobody can be asked. */
  content: ContentOutcome | undefined;
  /** What a read by name gives where the stream has told something else: null, that it is gone; a text, why it fails. */
  truth: Map<string, ApplicationView | null | string>;
  context: RepoContext;
  memory: Parts;
}

let bench: Bench;

function mirrorOf(self: () => Bench): Partial<Mirror> {
  const info = (sha: string): CommitInfo => ({ sha, parents: [], author: "bob", authorEmail: "", at: 0, subject: "by hand", body: "" });
  return {
    async isAncestor(part, whole) {
      self().asked.push(`${part.slice(0, 4)} in ${whole.slice(0, 4)}`);
      return part === whole ? true : self().ancestry.get(`${part} in ${whole}`);
    },
    async readFiles(commit, paths) {
      return new Map(paths.map((path) => [path, path === FILE ? (self().files.get(commit) ?? "image: { tag: v2 }\n") : null]));
    },
    async fetch(refs) {
      self().asked.push(`fetch ${refs?.join() ?? "all"}`);
    },
    async resolve(ref) {
      return self().tags.get(ref);
    },
    commitInfo: async (sha) => info(sha),
    async firstParentLog() {
      return [info(LATER)];
    },
    async changedPaths() {
      return [FILE];
    },
  };
}

function planeOf(name: string, self: () => Bench): ControlPlane {
  const plane: Partial<ControlPlane> = {
    name,
    state: () => ({ fresh: true, since: MERGED }),
    application: (namespace, application) => self().applications.get(`${name}/${namespace}/${application}`),
    applicationSet: (namespace, set) => self().sets.get(`${name}/${namespace}/${set}`),
    clusters: () => [],
    async reread(namespace, application) {
      const key = `${name}/${namespace}/${application}`;
      self().asked.push(`reread ${application}`);
      const truth = self().truth.get(key);
      if (typeof truth === "string") return { kind: "failed", why: said(truth) };
      const view = truth ?? self().applications.get(key);
      if (truth === null || view === undefined) {
        self().applications.delete(key);
        return { kind: "gone" };
      }
      self().applications.set(key, { ...view, askedAt: new Date(self().now).toISOString() });
      return { kind: "read" };
    },
    async refresh(_, application) {
      self().asked.push(`refresh ${application}`);
      return "asked";
    },
    async refreshSet(_, set) {
      self().asked.push(`generate ${set}`);
      return "asked";
    },
    async syncWindows() {
      self().asked.push("windows");
      return self().windows;
    },
  };
  return plane as ControlPlane;
}

beforeEach(() => {
  const mirror = mirrorOf(() => bench) as Mirror;
  const planes = new Map(["hub", "edge"].map((name) => [name, planeOf(name, () => bench)]));
  const clock = { now: () => bench.now, after: () => () => undefined };
  const context = { mirror, planes, clock, log: silentLog, repoURL: REPO } as unknown as RepoContext;
  const memory = partsOf(context);
  const now = Date.parse("2026-11-21T10:05:00Z");
  const rest = { windows: undefined, asked: [], truth: new Map(), context, memory };
  bench = {
    content: undefined,
    now,
    applications: new Map(),
    sets: new Map(),
    ancestry: new Map(),
    files: new Map(),
    tags: new Map(),
    ...rest,
  };
});

function has(key: string, over: Raw = {}): void {
  const view = decodeApplication(merged(rawApplication({ metadata: { name: "payments" } }), over), bench.now);
  if (view !== undefined) bench.applications.set(key, view);
}

const run = { spec: { settleMs: 10_000, graceMs: 60_000, baseline: "Strict" } } as unknown as Run;

function batchOf(to: string, edit: Partial<BatchTarget["edits"][number]> = {}): { batch: Batch; target: BatchTarget } {
  const edits = [{ file: FILE, path: "image.tag", kind: "value" as const, from: "v1", to, ...edit }];
  const target = {
    key: "hub/argocd/payments",
    application: "payments",
    cluster: "hub/eu-1",
    edits,
    phase: "Merged",
  } as unknown as BatchTarget;
  const batch = { branch: "b", merged: { commit: COMMIT, at: MERGED, by: "bot" }, targets: [target] } as unknown as Batch;
  return { batch, target };
}

/** A look, what it wanted to be read, and another look. */
async function look(to = "v2", key = KEY): Promise<Assessment | undefined> {
  await glance(to, key);
  await new Promise(setImmediate);
  return glance(to, key);
}

async function glance(
  to = "v2",
  key = KEY,
  over: { batch?: Partial<Batch>; target?: Partial<BatchTarget>; atChange?: RenderedAround["atChange"] } = {},
) {
  const made = batchOf(to);
  const batch = { ...made.batch, ...over.batch };
  const target = { ...made.target, ...over.target };
  const none = { before: undefined, atChange: over.atChange, atBase: undefined };
  const [assessment] = await bench.memory.judge(run, { ...batch, targets: [{ ...target, key }] }, none);
  return assessment;
}

/** Two looks, as far apart as settling takes. */
async function looks(to = "v2"): Promise<Assessment | undefined> {
  await look(to);
  bench.now += 10_000;
  return look(to);
}

const rereads = () => bench.asked.filter((one) => one.startsWith("reread")).length;
const degraded = () => decodeApplication(merged(rawApplication({ metadata: { name: "payments" } }), DEGRADED), bench.now) ?? null;
const DEGRADED = { metadata: { resourceVersion: "999" }, status: { health: { status: "Degraded" } } };

test("with its pin in a set that cannot be rendered, a target is not live by the commit alone, and its paths need not name the set's file", async () => {
  has(KEY, { metadata: { annotations: { "argocd.argoproj.io/manifest-generate-paths": "." } } });
  const { target } = batchOf("v2", { file: "appsets/payments.yaml" });
  const unrendered = Object.assign(new Map(), { madeFrom: new Set(["appsets/payments.yaml"]) });
  const assessment = await glance("v2", KEY, { target, atChange: new Map([["hub", unrendered]]) });
  expect(assessment).toMatchObject({ verdict: "pending", clause: "spec", sentence: { because: { code: "SPEC_UNRENDERED" } } });
});

test("with its pin in the values of the chart that makes it, a target is not live by the commit alone", async () => {
  const trackedBy = { "argocd.argoproj.io/tracking-id": "fleet:argoproj.io/Application:argocd/payments" };
  const edited = (file: string) => glance("v2", KEY, { target: batchOf("v2", { file }).target, atChange: new Map() });
  has(KEY, { metadata: { annotations: trackedBy } });
  has("hub/argocd/fleet", {
    metadata: { name: "fleet", uid: "parent" },
    spec: { source: { path: "fleet", helm: { valueFiles: ["../eu.yaml"] } } },
  });
  const spec = { verdict: "pending", clause: "spec" };
  expect(await edited("fleet/values.yaml")).toMatchObject(spec);
  expect(await edited("eu.yaml")).toMatchObject(spec);
  expect(await edited("base/kustomization.yaml")).not.toMatchObject(spec);
});

test("an app of apps is live only once what it makes is, at the very commit, and that is asked for and read by its name", async () => {
  const destination = { server: "https://kubernetes.default.svc", namespace: "argocd" };
  const resources = [{ group: "argoproj.io", kind: "Application", namespace: "argocd", name: "web" }];
  has(KEY, { spec: { destination }, status: { resources, sync: { comparedTo: { destination } } } });
  const web = (revision: string) => has("hub/argocd/web", { metadata: { name: "web", uid: "web" }, status: { sync: { revision } } });
  bench.ancestry.set(`${COMMIT} in ${OLDER}`, false);
  web(OLDER);
  const behind = { verdict: "pending", clause: "health", asksFirst: { applications: ["hub/argocd/web"] } };
  await looks();
  expect(await looks()).toMatchObject(behind);
  web(COMMIT);
  await looks();
  expect((await looks())?.verdict).toBe("live");
  expect(bench.asked).toContain("reread web");
});

describe("what the objects hold is asked", () => {
  async function says(content: ContentOutcome | undefined, proof?: "content" | "revision"): Promise<Assessment | undefined> {
    const answers = async () => {
      bench.asked.push("content");
      return bench.content ?? { kind: "done" as const, proof: "unknown" as const };
    };
    bench.content = content;
    const plane = bench.context.planes.get("hub");
    if (plane !== undefined && content !== undefined) plane.content = answers;
    has(KEY);
    run.spec.proof = proof;
    await looks();
    const judged = await look();
    run.spec.proof = undefined;
    return judged;
  }
  const asked = () => bench.asked.filter((one) => one === "content").length;
  const failed = { kind: "failed", why: said("HTTP 403"), refused: true } as const;

  test("a target whose objects show the change is live, and was asked for once", async () => {
    expect(await says({ kind: "done", proof: "shown" })).toMatchObject({ verdict: "live", sentence: { objects: "shown" } });
    expect(asked()).toBe(1);
  });

  test("one that renders to what there was before is never live, whatever its revision", async () => {
    expect(await says({ kind: "done", proof: "same" })).toMatchObject({
      verdict: "pending",
      clause: "content",
      sentence: { code: "CONTENT_UNCHANGED" },
    });
    bench.content = { kind: "done", proof: "shown" };
    bench.now += 5000;
    expect((await look())?.verdict).toBe("live");
  });

  test("what cannot be read counts by the revision and says so, unless it is required", async () => {
    expect(await says(failed)).toMatchObject({
      verdict: "live",
      sentence: { objects: "unread" },
      evidence: { fields: { objects: "cannot be read" } },
    });
    expect(await says(failed, "content")).toMatchObject({ verdict: "pending", sentence: { code: "CONTENT_UNREAD", required: true } });
    expect(await says({ kind: "done", proof: "unknown" }, "content")).toMatchObject({ sentence: { code: "CONTENT_UNTOLD" } });
  });

  test("with `proof: revision` nobody is asked, and where nobody can be asked `proof: content` is never live", async () => {
    expect((await says({ kind: "done", proof: "same" }, "revision"))?.verdict).toBe("live");
    expect(asked()).toBe(0);
    delete bench.context.planes.get("hub")?.content;
    expect((await says(undefined))?.verdict).toBe("live");
    expect(await says(undefined, "content")).toMatchObject({ verdict: "pending", sentence: { because: { code: "CONTENT_UNSEEN" } } });
  });
});

describe("what a stream did not bring", () => {
  test("a target is live only by a read of its own once it has settled, one for all looks", async () => {
    has("hub/argocd/payments");
    await look();
    bench.now += 9_000;
    await look();
    expect(rereads()).toBe(0);
    bench.now += 1_000;
    expect(await glance()).toMatchObject({ verdict: "pending", clause: "settled", sentence: { code: "READ_AWAITED" } });
    expect((await look())?.verdict).toBe("live");
    bench.now += 60_000;
    expect((await look())?.verdict).toBe("live");
    expect(rereads()).toBe(1);
  });

  test("a Degraded that was dropped on the way is found by it", async () => {
    has("hub/argocd/payments");
    await look();
    bench.now += 10_000;
    bench.truth.set("hub/argocd/payments", degraded());
    expect(await look()).toMatchObject({ verdict: "pending", clause: "health" });
  });

  test("one that is gone is lost, and one that cannot be read stays pending, says why and is not asked again at once", async () => {
    has("hub/argocd/payments");
    await look();
    bench.now += 10_000;
    bench.truth.set("hub/argocd/payments", "no answer from https://argocd.example.com");
    const unread = await look();
    expect(unread).toMatchObject({ verdict: "pending", clause: "settled" });
    expect(unread?.sentence).toMatchObject({ code: "READ_FAILED", problem: said("no answer from https://argocd.example.com") });
    await look();
    expect(rereads()).toBe(1);
    bench.now += 5_000;
    bench.truth.set("hub/argocd/payments", null);
    expect(await look()).toMatchObject({ verdict: "lost", clause: "exists" });
  });

  test("a bake ends by another read, not by the one that it began with", async () => {
    has("hub/argocd/payments");
    await look();
    bench.now += 10_000;
    const until = new Date(bench.now + 600_000).toISOString();
    const baking = { phase: "Baking" as const, bake: { from: MERGED, until, restarts: 0 } };
    const healthy = { phase: "Healthy" as const, confirmedAt: MERGED };
    const during = () => glance("v2", KEY, { batch: baking, target: healthy });
    expect((await look())?.verdict).toBe("live");
    bench.now += 599_000;
    expect((await during())?.verdict).toBe("live");
    bench.now += 1_000;
    bench.truth.set("hub/argocd/payments", degraded());
    expect(await during()).toMatchObject({ verdict: "pending", clause: "settled" });
    await new Promise(setImmediate);
    expect(await during()).toMatchObject({ clause: "health" });
  });
});

describe("a target", () => {
  test("is live by a commit that contains its change, and counted from our own first good look", async () => {
    has("hub/argocd/payments", { status: { sync: { revision: LATER } } });
    bench.ancestry.set(`${COMMIT} in ${LATER}`, true);
    expect(await look()).toMatchObject({ verdict: "pending", clause: "settled" });
    bench.now += 9_000;
    expect((await look())?.verdict).toBe("pending");
    bench.now += 1_000;
    expect((await look())?.verdict).toBe("live");
  });

  test("waits where the seen commit has the pin changed, and names the commit", async () => {
    has("hub/argocd/payments", { status: { sync: { revision: LATER } } });
    bench.ancestry.set(`${COMMIT} in ${LATER}`, true);
    bench.files.set(LATER, "image: { tag: v1 }\n");
    expect(await looks()).toMatchObject({ verdict: "waiting", clause: "revision", changedBy: LATER });
  });

  test("of a seen commit that nobody has is pending; the base is fetched, and everything if that does not help", async () => {
    has("hub/argocd/payments", { status: { sync: { revision: LATER } } });
    expect(await look()).toMatchObject({ verdict: "pending", clause: "revision" });
    expect(bench.memory.remote.hasNews).toBe(true);
    expect(bench.asked).not.toContain("fetch all");
    bench.now += 30_000;
    await look();
    expect(bench.asked).toContain("fetch all");
    bench.ancestry.set(`${COMMIT} in ${LATER}`, true);
    expect((await looks())?.verdict).toBe("live");
  });

  test("that follows a tag of the config repo must be at the commit the tag has in our mirror", async () => {
    const source = { targetRevision: "v2" };
    has("hub/argocd/payments", { spec: { source }, status: { sync: { revision: OLDER, comparedTo: { source } } } });
    bench.tags.set("refs/tags/v2", COMMIT);
    bench.ancestry.set(`${COMMIT} in ${OLDER}`, false);
    expect(await looks()).toMatchObject({ verdict: "pending", clause: "revision" });
    has("hub/argocd/payments", { spec: { source }, status: { sync: { comparedTo: { source } } } });
    expect((await looks())?.verdict).toBe("live");
    expect(bench.asked.filter((one) => one.startsWith("fetch"))).toEqual(["fetch refs/tags/v2"]);
  });

  test("that is OutOfSync behind a closed window waits, and says when it opens", async () => {
    has("hub/argocd/payments", { status: { sync: { status: "OutOfSync" }, operationState: undefined } });
    bench.windows = { open: false, opensAt: "2026-11-21T22:00:00Z", windows: [] };
    expect(await look()).toMatchObject({
      verdict: "waiting",
      clause: "synced",
      lookAgainAt: "2026-11-21T22:00:00.000Z",
      sentence: { code: "SYNC_WINDOW_CLOSED", opensAt: "2026-11-21T22:00:00Z" },
    });
    await look();
    expect(bench.asked.filter((one) => one === "windows")).toHaveLength(1);
  });

  test("whose ApplicationSet was there and is gone is lost; one that nobody ever saw says nothing", async () => {
    const ownerReferences = [{ kind: "ApplicationSet", name: "payments", uid: "set-1" }];
    has("hub/argocd/payments", { metadata: { ownerReferences } });
    expect((await looks())?.verdict).toBe("live");
    const set = { namespace: "argocd", name: "payments", uid: "set-1", resourceVersion: "1", spec: {}, conditions: [] };
    bench.sets.set("hub/argocd/payments", set);
    expect((await look())?.verdict).toBe("live");
    bench.sets.clear();
    expect(await look()).toMatchObject({
      verdict: "lost",
      clause: "exists",
      sentence: expect.toHaveCode("OWNER_ENDS", { name: "payments", state: "gone" }),
    });
    // Made anew under the same name it owns nothing of before.
    bench.sets.set("hub/argocd/payments", { ...set, uid: "set-2" });
    expect((await look())?.verdict).toBe("lost");
  });

  test("of the same name on another control plane is another target", async () => {
    has("hub/argocd/payments");
    has("edge/argocd/payments", { metadata: { uid: "other" }, status: { health: { status: "Degraded" } } });
    await look();
    await look("v2", "edge/argocd/payments");
    bench.now += 10_000;
    expect((await look())?.verdict).toBe("live");
    expect(await look("v2", "edge/argocd/payments")).toMatchObject({ verdict: "pending", clause: "health" });
    const targets = ["edge/argocd/payments", "hub/argocd/payments", "hub/argocd/none", "nowhere/argocd/payments"].map((key) => ({ key }));
    const tolerant = { spec: { baseline: "Tolerate" }, batches: [{ targets }] } as unknown as Run;
    expect([...bench.memory.targets.healthIssuesBefore(tolerant)]).toEqual([
      ["edge/argocd/payments", ["Degraded"]],
      ["hub/argocd/payments", []],
      ["hub/argocd/none", ["NoApplication"]],
    ]);
  });

  test("how it is before anybody moved it is asked of unmerged batches only, and only where that is tolerated", () => {
    has("hub/argocd/payments", { status: { health: { status: "Degraded" } } });
    const targets = [{ key: "hub/argocd/payments" }] as BatchTarget[];
    const early = (baseline: string, ...batches: Partial<Batch>[]) =>
      bench.memory.targets.healthIssuesBefore({ spec: { baseline }, batches } as unknown as Run);
    expect([...early("Tolerate", { targets })]).toEqual([["hub/argocd/payments", ["Degraded"]]]);
    expect(early("Tolerate", { targets, merged: { commit: "c", at: "2026-11-21T12:00:00Z" } as Batch["merged"] & object }).size).toBe(0);
    expect(early("Strict", { targets }).size).toBe(0);
  });

  test("made anew under the same name settles anew", async () => {
    has("hub/argocd/payments");
    expect((await looks())?.verdict).toBe("live");
    has("hub/argocd/payments", { metadata: { uid: "made-anew" } });
    expect((await look())?.clause).toBe("settled");
  });
});

describe("a spec that its parent has not brought yet", () => {
  const ownerReferences = [{ kind: "ApplicationSet", name: "payments", uid: "set-1" }];
  const set: ApplicationSetView = {
    ...{ namespace: "argocd", name: "payments", uid: "set-1", resourceVersion: "1", conditions: [] },
    spec: { generators: [{ git: { files: [] } }] },
    appliedBy: { name: "fleet" },
  };
  const refreshes = () => bench.asked.filter((one) => /^(refresh|generate)/.test(one));

  /** What a round does: it looks, and asks for what the look wanted. */
  async function round() {
    const source = { repoURL: "https://charts.example.com", targetRevision: "v2", chart: "payments" };
    const spec = { ...decodeApplication(rawApplication(), 0)?.spec, sources: [source] } as unknown as ApplicationView["spec"];
    const assessment = await glance("v2", KEY, { atChange: new Map([["hub", new Map([["payments", spec]])]]) });
    const { applications = [], sets = [] } = assessment?.asksFirst ?? {};
    bench.memory.refresher.ask([...sets.map(setKey), ...applications]);
    await new Promise(setImmediate);
    return assessment;
  }

  const parentAt = (revision: string, annotations: Raw = {}) =>
    has("hub/argocd/fleet", { metadata: { name: "fleet", uid: "parent", annotations }, status: { sync: { revision } } });

  beforeEach(() => {
    has(KEY, { metadata: { ownerReferences } });
    bench.sets.set(KEY, set);
    bench.ancestry.set(`${COMMIT} in ${OLDER}`, false);
    parentAt(OLDER);
  });

  test("the Application that applies its set, and the set, are asked to look once each, and the sentence says who is waited for", async () => {
    await round();
    await round();
    const assessment = await round();
    expect(refreshes()).toEqual(["generate payments", "refresh fleet"]);
    expect(assessment).toMatchObject({ verdict: "pending", clause: "spec", wantsRefresh: false });
    expect(assessment?.sentence).toMatchObject({ code: "SPEC_AWAITS", step: "compare", parent: "fleet", asked: { answer: "asked" } });
    bench.now += 59_000;
    await round();
    expect(refreshes()).toHaveLength(2);
  });

  test("a bot that starts anew asks nobody who was asked, or who has looked since", async () => {
    await round();
    bench.memory = partsOf(bench.context);
    parentAt(OLDER, { "argocd.argoproj.io/refresh": "normal" });
    bench.sets.set(KEY, { ...set, refreshRequested: true });
    await round();
    expect(refreshes()).toHaveLength(2);
    parentAt(COMMIT);
    expect((await round())?.sentence).toMatchObject({ code: "SPEC_AWAITS", step: "generate" });
    expect(refreshes()).toHaveLength(2);
  });
});
