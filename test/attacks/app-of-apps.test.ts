/** Whoever writes Applications, or answers for Argo CD, has the bot look, read or keep without end. */
import { expect, test } from "vitest";
import type { ControlPlane, RenderedObject } from "../../src/adapters/argocd/port.ts";
import { COMMIT, MERGED, NOW, REPO, rawApplication } from "../../src/adapters/argocd/testing/application.ts";
import { decodeApplication } from "../../src/core/argocd/decode/application.ts";
import type { ApplicationView } from "../../src/core/argocd/views.ts";
import { onBase, openParentRenders } from "../../src/engine/config-repo/parent-renders.ts";
import { silentLog } from "../../src/engine/round/context.ts";
import { openChildren } from "../../src/engine/round/observe/children.ts";
import { sampleRollout } from "../support/sample-run.ts";

const HUB = { server: "https://kubernetes.default.svc", namespace: "argocd" };
/** Each of them could be looked at through all the others: some thousands of millions of ways. */
const MANY = 100;

test("Applications that all say they make one another are looked at once each", () => {
  const names = Array.from({ length: MANY }, (_, i) => `app-${i}`);
  const resources = names.map((name) => ({ group: "argoproj.io", kind: "Application", namespace: "argocd", name }));
  const views = new Map(
    names.map((name) => {
      const raw = rawApplication();
      const metadata = { ...(raw["metadata"] as object), name, uid: name };
      const spec = { ...(raw["spec"] as object), destination: HUB };
      return [name, decodeApplication({ ...raw, metadata, spec, status: { ...(raw["status"] as object), resources } }, NOW)] as const;
    }),
  );
  let looks = 0;
  const plane = {
    name: "hub",
    application: (_: string, name: string) => {
      looks++;
      if (looks > 10 * MANY * MANY) throw new Error("it looks at them again and again");
      return views.get(name);
    },
    clusters: () => [],
  } as unknown as ControlPlane;
  const run = { spec: { ...sampleRollout(), settleMs: 10_000, graceMs: 30_000 } };
  const merged = { commit: COMMIT, at: MERGED } as never;
  const application = views.get("app-0") as ApplicationView;
  const { seen, wants } = openChildren(() => undefined).of(
    { run, merged, plane, application, now: NOW, repoURL: REPO, target: { edits: [] } },
    { ancestry: () => "unknown", renderedNow: () => undefined },
    {},
  );
  expect(seen).toHaveLength(MANY - 1);
  expect(new Set(wants.map(({ key }) => key)).size).toBe(wants.length);
});

const place = (namespace: string, name = "web") => `argoproj.io/Application ${namespace}/${name}`;

function application(namespace: string, spec: object, digest: string): RenderedObject {
  const object = { metadata: { name: "web", namespace }, spec } as Record<string, unknown>;
  return { kind: "argoproj.io/Application", namespace, name: "web", digest, argo: { kind: "Application", object } };
}

test("what an answer nests deeply is read as often as what is flat", () => {
  let reads = 0;
  const deep = (version: string) => {
    let spec: object = Object.defineProperty({ version }, "large", { enumerable: true, get: () => ++reads && "x" });
    for (let depth = 0; depth < 200; depth++) spec = { in: spec, [`${version}-${depth}`]: version };
    return new Map([[place("argocd"), application("argocd", spec, version)]]);
  };
  onBase(deep("v1"), deep("v2"), deep("v3"));
  expect(reads).toBeGreaterThan(0);
  expect(reads).toBeLessThan(20);
});

test("of answers that are large the oldest are forgotten", async () => {
  let asked = 0;
  const manifests = async () => {
    asked++;
    return { kind: "done", objects: [{ ...application("argocd", {}, "1"), bytes: 15 << 20 }] } as const;
  };
  const plane = { name: "hub", manifests } as unknown as ControlPlane;
  const parent = {
    namespace: "argocd",
    name: "root",
    uid: "1",
    spec: { sources: [{ repoURL: REPO, path: "apps" }] },
    status: { sync: { revisions: [] } },
  };
  const renders = openParentRenders({ clock: { now: () => NOW } as never, log: silentLog, repoURL: REPO });
  for (const commit of ["a", "b", "b", "c", "c", "a"]) await renders.at(plane, parent as never, commit.repeat(40), "main");
  expect(asked).toBe(4);
});
