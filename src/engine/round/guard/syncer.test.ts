import { expect, test } from "vitest";
import type { ControlPlane, SyncOutcome } from "../../../adapters/argocd/port.ts";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { openSyncer } from "./syncer.ts";

const C = "c".repeat(40);
const REPO = "https://git.invalid/r";

test("what an Application that a parent renders was made from is asked of its parent, and only where the change is in its spec", () => {
  const asked: unknown[] = [];
  const sourcesOf = (targetRevision: string) => [{ repoURL: REPO, path: "a", targetRevision }];
  const facts = {
    madeBefore(_plane: unknown, { name }: { name: string }, merge: unknown) {
      asked.push([name, merge]);
      return sourcesOf("v1");
    },
  };
  const plane = { name: "hub", sync: () => undefined };
  const syncer = openSyncer({ planes: new Map(), clock: { now: () => 0 }, log: {} } as never);
  const spec = { source: sourcesOf("v2")[0], destination: { name: "one" } };
  const status = { sync: { status: "OutOfSync", revision: C } };
  const application = decodeApplication({ metadata: { name: "a", namespace: "argocd", uid: "a" }, spec, status }, 0);
  const run = { spec: { stages: [{ sync: "Request" }] } };
  const moved = {
    run,
    batch: { stage: 0 },
    merged: { commit: C },
    target: { key: "hub/argocd/a" },
    plane,
    name: "a",
    application,
    also: [],
  };
  const parent = "b".repeat(40);
  const revision = { kind: "revision", revision: "v2", commit: C };
  expect(syncer.of({ ...moved, change: revision, parent, facts } as never)).toMatchObject({
    wanted: { revisions: [C], before: { sources: sourcesOf("v1"), revisions: [null] } },
  });
  expect(asked).toEqual([["a", { commit: C, parent }]]);
  syncer.of({ ...moved, change: { kind: "commit", repoURL: REPO, commit: C }, parent, facts } as never);
  expect(asked).toHaveLength(1);
  const unknown = { madeBefore: () => undefined };
  expect(syncer.of({ ...moved, change: revision, parent, facts: unknown } as never)).toMatchObject({ cannot: { kind: "NoBefore" } });
});

test("what waits for a place is not asked for once its run is paused, and is asked for when that goes on", async () => {
  const begun: string[] = [];
  const ends: ((outcome: SyncOutcome) => void)[] = [];
  const plane = {
    name: "hub",
    state: () => ({ fresh: true }),
    sync: (_: string, name: string) => {
      begun.push(name);
      return new Promise<SyncOutcome>((resolve) => ends.push(resolve));
    },
  } as unknown as ControlPlane;
  let now = 0;
  const log = { info: () => undefined };
  const syncer = openSyncer({ planes: new Map([["hub", plane]]), clock: { now: () => now }, log } as never);
  const names = ["a", "b", "c", "d", "e", "f"];
  const wishes = names.map((name) => ({ kind: "Sync" as const, target: `hub/argocd/${name}`, commit: C }));
  const run = { spec: { stages: [{ sync: "Request" }] } } as unknown as Run;
  for (const [at, name] of names.entries()) {
    const source = { repoURL: REPO, path: name, targetRevision: "main" };
    const status = { sync: { status: "OutOfSync", revision: C } };
    const spec = { source, destination: { name: "one" } };
    const application = decodeApplication({ metadata: { name, namespace: "argocd", uid: name }, spec, status }, 0);
    const target = { key: wishes[at]?.target };
    const change = { kind: "commit", repoURL: REPO, commit: C };
    const judged = {
      run,
      batch: { stage: 0 },
      merged: { commit: C },
      target,
      plane,
      name,
      application,
      change,
      also: [],
      parent: "b".repeat(40),
    };
    expect(syncer.of(judged as never)).toMatchObject({ wanted: { revisions: [C] } });
  }
  const settle = async () => {
    for (const end of ends.splice(0)) end({ kind: "asked" });
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  for (const wish of wishes) syncer.ask("payments", wish);
  expect(begun).toEqual(["a", "b", "c", "d"]);
  syncer.keep("ledger", []);
  syncer.keep("payments", wishes.slice(0, 5));
  await settle();
  expect(begun).toEqual(["a", "b", "c", "d", "e"]);
  await settle();
  now += 60_000;
  for (const wish of wishes.slice(5)) syncer.ask("payments", wish);
  expect(begun.at(-1)).toBe("f");
  await settle();
});
