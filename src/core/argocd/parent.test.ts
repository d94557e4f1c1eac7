import { describe, expect, test } from "vitest";
import { application, COMMIT, OLDER, REPO } from "../../adapters/argocd/testing/application.ts";
import { decodeApplicationSet } from "./decode/application-set.ts";
import { awaitedFor, worthAsking } from "./parent.ts";
import type { ApplicationSetView, ApplicationView } from "./views.ts";

type Raw = Record<string, unknown>;
const TRACKED = { "argocd.argoproj.io/tracking-id": "fleet:argoproj.io/ApplicationSet:argocd/payments" };
const ownerReferences = [{ kind: "ApplicationSet", name: "payments", uid: "set-1" }];
const target = application({ metadata: { ownerReferences } });

function setOf(metadata: Raw = { annotations: TRACKED }, generators: unknown[] = [{ list: { elements: [] } }]): ApplicationSetView {
  const view = decodeApplicationSet({
    metadata: { name: "payments", namespace: "argocd", uid: "set-1", ...metadata },
    spec: { generators },
  });
  if (view === undefined) throw new Error("the fixture has no name");
  return view;
}

function parent(over: Raw = {}, metadata: Raw = {}): ApplicationView {
  return application({ metadata: { name: "fleet", uid: "parent", ...metadata }, ...over });
}

const seen = (revision: string, status = "Synced") => ({ status: { sync: { revision, status } } });

function awaited(parentView: ApplicationView | undefined, set = setOf(), app = target) {
  const find = (_: string, name: string) => (name === "fleet" ? parentView : undefined);
  return awaitedFor({ application: app, set, repoURL: REPO, find, contains: (revision) => revision === COMMIT });
}

describe("who has to look before a spec can change", () => {
  test.each([
    ["the parent, while it has not seen the merge", parent(seen(OLDER)), "compare"],
    ["the parent, while it has not applied what it has seen", parent(seen(COMMIT, "OutOfSync")), "apply"],
    [
      "a person, where the parent's auto-sync is off",
      parent({ ...seen(COMMIT, "OutOfSync"), spec: { syncPolicy: { automated: undefined } } }),
      "byHand",
    ],
    ["the set's controller, once the parent is Synced", parent(seen(COMMIT)), "generate"],
    ["a parent that nobody lets us see", undefined, "unseen"],
  ] as const)("%s", (_, view, step) => {
    expect(awaited(view)).toMatchObject({ step, parentName: "fleet", set: { name: "payments" } });
  });

  test("a parent is asked once: not while it is asked, not once it has looked, not where it never looks", () => {
    const asks = (view: ApplicationView) => worthAsking(awaited(view) ?? { step: "unseen" }).parent?.name;
    expect(asks(parent(seen(OLDER)))).toBe("fleet");
    expect(asks(parent(seen(OLDER), { annotations: { "argocd.argoproj.io/refresh": "normal" } }))).toBeUndefined();
    expect(asks(parent(seen(OLDER), { annotations: { "argocd.argoproj.io/skip-reconcile": "true" } }))).toBeUndefined();
    expect(asks(parent(seen(COMMIT, "OutOfSync")))).toBeUndefined();
  });

  test("a set that reads Git is asked besides, in whatever it is nested; one that does not is left to its parent", () => {
    const nested = [{ matrix: { generators: [{ clusters: {} }, { merge: { generators: [{ git: { files: [] } }] } }] } }];
    const asks = (set: ApplicationSetView) => worthAsking(awaited(parent(seen(OLDER)), set) ?? { step: "unseen" }).set?.name;
    expect(asks(setOf({ annotations: TRACKED }, nested))).toBe("payments");
    expect(asks(setOf())).toBeUndefined();
    const asked = { ...TRACKED, "argocd.argoproj.io/application-set-refresh": "true" };
    expect(asks(setOf({ annotations: asked }, nested))).toBeUndefined();
    // Applied by hand or by CI: nobody is its parent.
    expect(awaited(undefined, setOf({}, nested))).toMatchObject({ step: "generate" });
    expect(awaited(undefined, setOf({}))).toBeUndefined();
  });

  test("a parent of another repository, and an Application that names itself, are nobody's business", () => {
    const elsewhere = { spec: { source: { repoURL: "https://github.com/acme/other.git" } } };
    expect(awaited(parent(elsewhere))).toBeUndefined();
    const own = { "argocd.argoproj.io/tracking-id": "payments-eu-1:argoproj.io/Application:argocd/payments-eu-1" };
    const alone = application({ metadata: { annotations: own } });
    const question = { application: alone, set: undefined, repoURL: REPO, contains: () => false };
    expect(awaitedFor({ ...question, find: () => alone })).toBeUndefined();
  });
});

describe("who applies an object", () => {
  test.each([
    ["its tracking annotation", { annotations: TRACKED }, { name: "fleet" }],
    [
      "one in another namespace",
      { annotations: { "argocd.argoproj.io/tracking-id": "team-a_fleet:argoproj.io/ApplicationSet:argocd/payments" } },
      { name: "fleet", namespace: "team-a" },
    ],
    ["its label, where Argo CD tracks by that", { labels: { "app.kubernetes.io/instance": "fleet" } }, { name: "fleet" }],
    [
      "the label that Argo CD's docs name beside it",
      { labels: { "app.kubernetes.io/instance": "a-chart", "argocd.argoproj.io/instance": "fleet" } },
      { name: "fleet" },
    ],
    [
      "nobody, by an annotation that was copied from another object",
      {
        annotations: { "argocd.argoproj.io/tracking-id": "fleet:argoproj.io/ApplicationSet:argocd/other" },
        labels: { "app.kubernetes.io/instance": "fleet" },
      },
      undefined,
    ],
    [
      "nobody, by what is no name",
      { annotations: { "argocd.argoproj.io/tracking-id": "../x:argoproj.io/ApplicationSet:argocd/payments" } },
      undefined,
    ],
  ] as const)("%s", (_, metadata, by) => {
    expect(setOf(metadata).appliedBy).toEqual(by);
  });
});
