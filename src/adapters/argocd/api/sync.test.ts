import { describe, expect, test } from "vitest";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { SyncWanted } from "../../../core/argocd/sync-wanted.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { said } from "../../../core/reasons/run.ts";
import { application, COMMIT, LATER, merged, NOW, OLDER, REPO, rawApplication } from "../testing/application.ts";
import { createCutter } from "../wire/cut.ts";
import { WireError } from "../wire/http.ts";
import { APPLICATION } from "../wire/shapes.ts";
import type { ArgoClient } from "./client.ts";
import { syncApplication } from "./sync.ts";

/** What of an answer is read at all. */
const cutter = createCutter(APPLICATION);
const cut = (object: unknown) => cutter(new TextEncoder().encode(JSON.stringify(object)));

const refused = (kind: string) => ({ code: "SYNC_UNSAFE", kind });
const PARENT = "b".repeat(40);
const SOURCE = { repoURL: REPO, path: "apps/payments", targetRevision: "main" };

/** Argo CD has seen the batch's commit, and what was there right before it is deployed. */
const atRest = {
  spec: { syncPolicy: undefined },
  status: {
    sync: { status: "OutOfSync" },
    operationState: { operation: { sync: { revision: PARENT } }, syncResult: { revision: PARENT } },
  },
};
const known = application(atRest);
const WANTED: SyncWanted = {
  uid: "uid-1",
  sources: known.spec.sources,
  revisions: [COMMIT],
  before: { sources: known.spec.sources, revisions: [PARENT] },
};

interface World {
  /** As it is by now. */
  over?: Record<string, unknown>;
  /** By revision. */
  manifests?: Record<string, string[]>;
  /** What Argo CD says that manifests are of, whatever was asked for; null: it says nothing, as since 2.11. */
  claims?: string | null;
  refuses?: Error;
  gone?: true;
}

async function asked({ over = {}, manifests = {}, claims, refuses, gone }: World = {}, wanted = WANTED) {
  const posts: unknown[] = [];
  const gets: string[] = [];
  const client: Partial<ArgoClient> = {
    async get(path, query = {}) {
      const revision = String(query["revision"] ?? query["revisions"] ?? "");
      gets.push(path.replace(/.*applications\//, ""));
      if (path.endsWith("/manifests"))
        return { manifests: manifests[revision] ?? [], ...(claims !== null && { revision: claims ?? revision }) };
      if (gone) throw new WireError(404, said(`applications.argoproj.io "payments-eu-1" not found`));
      return cut(merged(rawApplication(atRest), over));
    },
    async post(path, body) {
      posts.push([path, body]);
      if (refuses !== undefined) throw refuses;
      return {};
    },
  };
  const outcome = await syncApplication(client as ArgoClient, known, wanted, NOW);
  return { outcome: outcome.kind === "asked" ? "asked" : outcome.why, posts, gets };
}

describe("Argo CD is asked for a sync", () => {
  test("of the very commit, without pruning, where what was there right before it is deployed", async () => {
    const { outcome, posts, gets } = await asked();
    expect([outcome, gets]).toEqual(["asked", ["payments-eu-1"]]);
    expect(posts).toEqual([
      [
        "/api/v1/applications/payments-eu-1/sync",
        {
          ...{ name: "payments-eu-1", appNamespace: "argocd", project: "default", revision: COMMIT, prune: false, dryRun: false },
          infos: [{ name: "Reason", value: "Stagecoach: a batch of a rollout with sync: Request" }],
        },
      ],
    ]);
  });

  test("where an older commit is deployed, that renders to the same as the one right before it", async () => {
    const older = { status: { operationState: { syncResult: { revision: OLDER } } } };
    const same = await asked({ over: older, manifests: { [OLDER]: ["b", "a"], [PARENT]: ["a", "b"] } });
    expect([same.outcome, same.gets]).toEqual(["asked", ["payments-eu-1", "payments-eu-1/manifests", "payments-eu-1/manifests"]]);
  });

  test("where Argo CD does not name the revision that it rendered: its answer is taken as of the one that was asked for", async () => {
    const older = { status: { operationState: { syncResult: { revision: OLDER } } } };
    const silent = { over: older, claims: null };
    const same = await asked({ ...silent, manifests: { [OLDER]: ["b", "a"], [PARENT]: ["a", "b"] } });
    expect([same.outcome, same.posts.length]).toEqual(["asked", 1]);
    const more = await asked({ ...silent, manifests: { [OLDER]: ["a"], [PARENT]: ["a", "of somebody else"] } });
    expect([more.outcome, more.posts]).toEqual([refused("Rendering"), []]);
  });

  test("of several sources, each at its own revision and position", async () => {
    const values = { repoURL: "https://charts.example.com", chart: "web", targetRevision: "1.x" };
    const sources = [SOURCE, values];
    const multi = {
      spec: { source: undefined, sources },
      status: {
        sync: { revision: undefined, revisions: [COMMIT, "1.2.3"], comparedTo: { source: undefined, sources } },
        operationState: { syncResult: { revision: undefined, revisions: [PARENT, "1.2.3"], source: undefined, sources } },
      },
    };
    const view = decodeApplication(merged(rawApplication(atRest), multi), NOW) as ApplicationView;
    const wanted = { ...WANTED, sources: view.spec.sources, revisions: [COMMIT, "1.2.3"] };
    const both = { ...wanted, before: { sources: view.spec.sources, revisions: [PARENT, "1.2.3"] } };
    const { outcome, posts } = await asked({ over: multi }, both);
    expect([outcome, posts]).toEqual([
      "asked",
      [[expect.any(String), expect.objectContaining({ revisions: [COMMIT, "1.2.3"], sourcePositions: ["1", "2"] })]],
    ]);
    // A newer chart waits there, and renders to something else: a sync would bring it along.
    const chart = { ...both, before: { ...both.before, revisions: [PARENT, "1.2.4"] } };
    const manifests = { [`${PARENT},1.2.3`]: ["a"], [`${PARENT},1.2.4`]: ["b"] };
    expect((await asked({ over: multi, manifests }, chart)).outcome).toEqual(refused("Rendering"));
  });
});

describe("it is not asked, whatever the round before saw", () => {
  const state = (operationState: object) => ({ status: { operationState } });
  const cases: [string, World, string][] = [
    ["the Application is gone", { gone: true }, "Gone"],
    ["another one has its name", { over: { metadata: { uid: "uid-2" } } }, "Gone"],
    ["it is being deleted", { over: { metadata: { deletionTimestamp: "2026-11-21T10:00:00Z" } } }, "Gone"],
    ["its source is another", { over: { spec: { source: { path: "apps/other" } } } }, "Moved"],
    ["its target revision is another", { over: { spec: { source: { targetRevision: "attack" } } } }, "Moved"],
    ["automated sync is on again", { over: { spec: { syncPolicy: { automated: {} } } } }, "Automated"],
    ["an operation is asked for", { over: { operation: { sync: { revision: LATER } } } }, "Busy"],
    ["one runs", { over: state({ phase: "Running" }) }, "Busy"],
    ["it was synced to this commit already", { over: state({ syncResult: { revision: COMMIT } }) }, "Done"],
    ["its last sync failed", { over: state({ phase: "Failed" }) }, "NoSync"],
    ["nobody knows of a sync", { over: { status: { operationState: undefined } } }, "NoSync"],
    ["the last was of somebody's own manifests", { over: state({ operation: { sync: { manifests: ["x"] } } }) }, "NoSync"],
    [
      "the last was a dry run at the batch's parent: nobody has deployed that",
      { over: state({ operation: { sync: { dryRun: true } } }) },
      "NoSync",
    ],
    [
      "the last was of one object alone",
      { over: state({ operation: { sync: { resources: [{ kind: "ConfigMap", name: "a" }] } } }) },
      "NoSync",
    ],
    [
      "it was tried dry at this commit",
      { over: state({ operation: { sync: { dryRun: true } }, syncResult: { revision: COMMIT } }) },
      "NoSync",
    ],
    ["its spec has waiting changes", { over: state({ syncResult: { source: { path: "apps/before" } } }) }, "More"],
  ];
  test.each(cases)("%s", async (_, world, kind) => {
    const { outcome, posts } = await asked(world);
    expect([outcome, posts]).toEqual([refused(kind), []]);
  });

  test("commits of others wait there, which would come along; or Argo CD renders another commit than it is asked for", async () => {
    const older = { status: { operationState: { syncResult: { revision: OLDER } } } };
    const others = await asked({ over: older, manifests: { [OLDER]: ["a"], [PARENT]: ["a", "of somebody else"] } });
    expect([others.outcome, others.posts]).toEqual([refused("Rendering"), []]);
    const lies = await asked({ over: older, manifests: { [OLDER]: ["a"], [PARENT]: ["a"] }, claims: LATER });
    expect([lies.outcome, lies.posts]).toEqual([refused("Plane"), []]);
  });
});

test.each([
  [new WireError(403, said("cannot sync: blocked by sync window")), refused("Window")],
  [new WireError(400, said("another operation is already in progress")), refused("Busy")],
  [
    new WireError(403, said("permission denied: applications, sync, default/payments-eu-1, sub: stagecoach")),
    expect.objectContaining({ code: "GRANT_WANTED", grant: "p, ACCOUNT, applications, sync, default/*, allow" }),
  ],
])("what Argo CD refuses is said, with what to do: %s", async (refuses, why) => {
  expect((await asked({ refuses })).outcome).toEqual(why);
});
