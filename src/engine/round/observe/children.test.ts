import { expect, test } from "vitest";
import { sampleRollout } from "../../../../test/support/sample-run.ts";
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { at, COMMIT, LATER, MERGED, NOW, OLDER, REPO, rawApplication } from "../../../adapters/argocd/testing/application.ts";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import type { Edit } from "../../../core/plan/plan-types.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import type { Assessment } from "../../../core/run/state/world.ts";
import type { Refresher } from "../guard/refresh.ts";
import { askForChildren, openChildren } from "./children.ts";
import type { Facts } from "./facts.ts";
import { openTargetLooks } from "./observe-targets.ts";
import { openOwners } from "./stability.ts";

type Raw = Record<string, unknown>;

const HUB = { server: "https://kubernetes.default.svc", namespace: "argocd" };

/** An Application of the story; `makes`: names of those that it makes. */
function view(name: string, over: Raw = {}, makes: readonly string[] = []): ApplicationView {
  const resources = makes.map((one) => ({
    group: "argoproj.io",
    version: "v1alpha1",
    kind: "Application",
    namespace: "argocd",
    name: one,
  }));
  const raw = rawApplication(over);
  const base = { ...raw, metadata: { ...(raw["metadata"] as Raw), name, uid: name }, status: { ...(raw["status"] as Raw), resources } };
  const decoded = decodeApplication(base, NOW);
  if (decoded === undefined) throw new Error("it has no name");
  return { ...decoded, askedAt: "2026-11-21T10:01:00.000Z" };
}

const onHub = (name: string, makes: readonly string[]) => {
  const { spec, ...rest } = view(name, {}, makes);
  const { comparedTo } = rest.status.sync;
  const sync = { ...rest.status.sync, ...(comparedTo === undefined ? {} : { comparedTo: { ...comparedTo, destination: HUB } }) };
  return { ...rest, status: { ...rest.status, sync }, spec: { ...spec, destination: HUB } };
};

const ancestry = (seen: string) => (seen === OLDER ? "missing" : seen === LATER || seen === COMMIT ? "contains" : "unknown") as never;

/** What is seen of the children of `root`, which follows the config repo's main. */
function seen(
  root: ApplicationView,
  others: readonly ApplicationView[],
  now = NOW,
  clusters: readonly unknown[] = [],
  set?: object,
  renderedNow: Facts["renderedNow"] = () => undefined,
  edits: Edit[] = [],
) {
  const plane = {
    name: "hub",
    application: (_: string, name: string) => others.find((one) => one.name === name),
    applicationSet: () => set,
    applications: ({ name }: { name: string }) => others.filter(({ owner }) => owner?.name === name),
    clusters: () => clusters,
  } as unknown as ControlPlane;
  const run = { spec: { ...sampleRollout(), settleMs: 10_000, graceMs: 30_000 } };
  const merged = { commit: COMMIT, at: MERGED } as never;
  const children = openChildren(openOwners());
  const look = (time: number) =>
    children.of({ run, merged, plane, application: root, now: time, repoURL: REPO, target: { edits } }, { ancestry, renderedNow }, {});
  // Each settles by our own clock, a child before its parent.
  for (const before of [30_000, 15_000]) look(now - before);
  const { seen: found, wants } = look(now);
  return { told: found.map(({ name, verdict, because }) => `${name} ${verdict}: ${sentenceOf(because)}`), wants };
}

const WEB = (over: Raw = {}) => view("web", over);

test("a child at the commit, Synced and Healthy is live, and one that has not compared since is not", () => {
  const root = onHub("root", ["web"]);
  expect(seen(root, [WEB()]).told).toEqual([expect.stringMatching(/^argocd\/web live: /)]);
  const behind = WEB({ status: { sync: { revision: OLDER } } });
  expect(seen(root, [behind]).told).toEqual([expect.stringMatching(/^argocd\/web pending: /)]);
  const before = WEB({ status: { reconciledAt: at("09:59:00"), operationState: undefined } });
  expect(seen(root, [before]).told).toEqual([expect.stringMatching(/^argocd\/web pending: /)]);
  expect(seen(root, [before]).wants).toMatchObject([{ key: "hub/argocd/web", refresh: { reason: expect.stringContaining(COMMIT) } }]);
});

test("a child on a branch that was moved back counts at that very commit, not at what was moved away", () => {
  const root = onHub("root", ["web"]);
  const back: Edit = { kind: "branch", file: "", path: "main", from: LATER, to: COMMIT, forced: true };
  const told = (revision: string, { to } = back) =>
    seen(root, [WEB({ status: { sync: { revision } } })], NOW, [], undefined, undefined, [{ ...back, to }]).told;
  expect(told(LATER)).toEqual([expect.stringMatching(/^argocd\/web pending: /)]);
  expect(told(COMMIT)).toEqual([expect.stringMatching(/^argocd\/web live: /)]);
  // Of several branches each has a commit of its own.
  const own = { ...back, to: "d".repeat(40) };
  expect(told(COMMIT, own)).toEqual([expect.stringMatching(/^argocd\/web pending: /)]);
  expect(told(own.to, own)).toEqual([expect.stringMatching(/^argocd\/web live: /)]);
});

test("a child that follows another repo counts once it was compared after the merge, with the spec that it has", () => {
  const root = onHub("root", ["web"]);
  const source = { repoURL: "https://github.com/acme/web", path: "deploy", targetRevision: "v2" };
  const chart = (compared: Raw) => WEB({ spec: { source }, status: { sync: { revision: LATER, comparedTo: { source: compared } } } });
  expect(seen(root, [chart(source)]).told).toEqual([expect.stringMatching(/^argocd\/web live: /)]);
  expect(seen(root, [chart({ ...source, targetRevision: "v1" })]).told).toEqual([
    expect.stringMatching(/^argocd\/web pending: .*out of date/),
  ]);
});

test("one that is not there or is Degraded is not live, and what a child makes counts with it", () => {
  const root = onHub("root", ["web", "gone"]);
  expect(seen(root, [WEB()]).told[1]).toMatch(/^argocd\/gone pending: /);
  const bad = WEB({ status: { health: { status: "Degraded", lastTransitionTime: at("10:00:20") } } });
  expect(seen(root, [bad], NOW + 60_000).told[0]).toMatch(/^argocd\/web pending: It has been Degraded/);
  const middle = onHub("middle", ["web", "root"]);
  expect(seen(onHub("root", ["middle"]), [middle, WEB()]).told).toEqual([expect.stringMatching(/^argocd\/middle live/)]);
  expect(seen(onHub("root", ["middle"]), [middle, bad], NOW + 60_000).told).toEqual([
    expect.stringMatching(/^argocd\/middle pending: Its Application argocd\/web does not count as healthy: it has been Degraded/),
  ]);
});

test("what a parent makes on another cluster is another Argo CD's, and is not looked for", () => {
  expect(seen(view("root", {}, ["web"]), []).told).toEqual([]);
  expect(seen(view("root", {}, ["web"]), [{ ...WEB(), appliedBy: { name: "other" } }]).told).toEqual([]);
  expect(seen(view("root", {}, ["web"]), [{ ...WEB(), owner: { kind: "ApplicationSet", name: "web", uid: "1" } }]).told).toEqual([]);
});

test("a hub that goes by a name or an address of its own is the hub all the same", () => {
  const destination = { name: "hub-eu", namespace: "argocd" };
  const root = { ...view("root", {}, ["web"]), spec: { ...view("root").spec, destination } };
  const hub = { name: "hub-eu", server: "https://kubernetes.default.svc", labels: {}, registered: true };
  expect(seen(root, [], NOW, [hub]).told).toEqual([expect.stringMatching(/^argocd\/web pending: /)]);
  const applied = { ...WEB({ status: { sync: { revision: OLDER } } }), appliedBy: { name: "root" } };
  expect(seen(root, [applied]).told).toEqual([expect.stringMatching(/^argocd\/web pending: /)]);
  const { appliedBy: _, ...untracked } = applied;
  expect(seen(root, [untracked]).told).toEqual([expect.stringMatching(/^argocd\/web pending: /)]);
});

test("children that all make one another are looked at once each", () => {
  const names = Array.from({ length: 7 }, (_, index) => `app-${index}`);
  const { told, wants } = seen(
    onHub("root", names),
    names.map((name) => onHub(name, names)),
  );
  expect([told.length, wants.length]).toEqual([7, 7]);
});

test("comparisons that children want are asked for with their parent's", () => {
  const reads: string[] = [];
  const reader = { readSoon: (key: string) => void reads.push(key) };
  const refresher = { want: () => NOW + 5000 } as unknown as Refresher;
  const assessment = { verdict: "pending" } as Assessment;
  askForChildren(assessment, [{ key: "hub/argocd/web", read: true, refresh: { reason: "x", from: 0 } }], { refresher, reader, now: NOW });
  expect([reads, assessment.asksFirst?.applications, assessment.lookAgainAt]).toEqual([
    ["hub/argocd/web"],
    ["hub/argocd/web"],
    "2026-11-21T10:01:05.000Z",
  ]);
});

test("what was wrong with a child before is known of its parent as well", () => {
  const root = onHub("root", ["web"]);
  const plane = {
    name: "hub",
    state: () => ({ fresh: true, since: MERGED }),
    application: (_: string, name: string) => (name === "root" ? root : WEB({ status: { health: { status: "Degraded" } } })),
    clusters: () => [],
  } as unknown as ControlPlane;
  const looks = openTargetLooks({ planes: new Map([["hub", plane]]), mirror: {} as never }, {} as never);
  const target = { key: "hub/argocd/root", edits: [] };
  const run = { spec: { baseline: "Tolerate" }, batches: [{ targets: [target] }] };
  expect([...looks.healthIssuesBefore(run as never)]).toEqual([["hub/argocd/root", ["Degraded"]]]);
});

test("what a set makes that a parent makes counts with the parent, and a set of which nothing can be told is waited for with the reason", () => {
  const bare = onHub("root", []);
  const root = { ...bare, status: { ...bare.status, childSets: ["argocd/web"] } };
  const set = { namespace: "argocd", name: "web", uid: "set", spec: {}, conditions: [{ type: "ResourcesUpToDate", status: "True" }] };
  const owner = { kind: "ApplicationSet", name: "web", uid: "set" };
  const made = (over: Raw = {}) => ({ ...view("web-eu", over), owner });
  const told = (others: readonly ApplicationView[], one?: object, now = NOW) => seen(root, others, now, [], one).told;
  expect(told([made()], set)).toEqual([expect.stringMatching(/^argocd\/web-eu live: /)]);
  const bad = made({ status: { health: { status: "Degraded", lastTransitionTime: at("10:00:20") } } });
  expect(told([bad], set, NOW + 60_000)).toEqual([expect.stringMatching(/^argocd\/web-eu pending: It has been Degraded/)]);
  expect(told([made({ status: { sync: { revision: OLDER } } })], set)).toEqual([expect.stringMatching(/^argocd\/web-eu pending: /)]);
  expect(told([made()])).toEqual([expect.stringMatching(/^argocd\/web pending: .*does not see ApplicationSet argocd\/web/)]);
  expect(told([], { ...set, conditions: [] })).toEqual([expect.stringMatching(/^argocd\/web pending: .*has not generated anything/)]);
  expect(told([], set)).toEqual([]);
  const failing = { ...set, conditions: [{ type: "ErrorOccurred", status: "True", message: "no such cluster" }] };
  expect(told([made()], failing)[0]).toMatch(/^argocd\/web pending: .*reports an error.*no such cluster\.$/);
});

test("what a set made before its parent changed it does not count, nor a set that has not made all of it yet", () => {
  const bare = onHub("root", []);
  const root = { ...bare, status: { ...bare.status, childSets: ["argocd/web"] } };
  const { source, destination } = rawApplication()["spec"] as { source: Raw; destination: Raw };
  const template = (path: string) => ({
    metadata: { name: "{{name}}" },
    spec: { project: "default", source: { ...source, path }, destination },
  });
  const list = (...elements: Raw[]) => [{ list: { elements } }];
  const setOf = (spec: Raw) => ({
    namespace: "argocd",
    name: "web",
    uid: "set",
    spec,
    conditions: [{ type: "ResourcesUpToDate", status: "True" }],
  });
  const made = { ...view("web-eu"), owner: { kind: "ApplicationSet", name: "web", uid: "set" } };
  const told = (spec: Raw) => seen(root, [made], NOW, [], setOf(spec)).told;
  const eu = { name: "web-eu", path: "apps/payments" };
  expect(told({ generators: list(eu), template: template("{{path}}") })).toEqual([expect.stringMatching(/^argocd\/web-eu live: /)]);
  expect(told({ generators: list({ ...eu, path: "apps/next" }), template: template("{{path}}") })).toEqual([
    expect.stringMatching(/^argocd\/web-eu pending: /),
  ]);
  expect(told({ generators: list(eu, { ...eu, name: "web-us" }), template: template("{{path}}") })[1]).toMatch(/^argocd\/web-us pending: /);
  // What a Git generator reads may not be at hand: then what the template says by itself has to stand there.
  const git = [{ git: { repoURL: REPO, revision: "main", directories: [{ path: "clusters/*" }] } }];
  expect(told({ generators: git, template: template("{{path}}") })).toEqual([expect.stringMatching(/^argocd\/web-eu live: /)]);
  expect(told({ generators: git, template: template("apps/next") })).toEqual([expect.stringMatching(/^argocd\/web-eu pending: /)]);
  // Where it is, each has to be as the set renders it, and all of them there.
  const intended = (path: string) => ({ ...view("web-eu").spec, sources: [{ ...view("web-eu").spec.sources[0], path }] }) as never;
  const read = (yields: ReturnType<Facts["renderedNow"]>) =>
    seen(root, [made], NOW, [], setOf({ generators: git, template: template("{{path}}") }), () => yields).told;
  expect(read(new Map([["web-eu", intended("apps/payments")]]))).toEqual([expect.stringMatching(/^argocd\/web-eu live: /)]);
  expect(read(new Map([["web-eu", intended("apps/next")]]))).toEqual([expect.stringMatching(/^argocd\/web-eu pending: /)]);
  expect(read(new Map([["web-us", intended("apps/payments")]]))[1]).toMatch(/^argocd\/web-us pending: /);
  expect(read("unread")).toEqual([expect.stringMatching(/^argocd\/web pending: /)]);
});
