import { expect, test } from "vitest";
import type { ControlPlane, SyncOutcome } from "../../../adapters/argocd/port.ts";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { openSyncer } from "./syncer.ts";

const C = "c".repeat(40);
const REPO = "https://git.invalid/r";

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
