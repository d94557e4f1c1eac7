import { expect, test } from "vitest";
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { COMMIT, OLDER, REPO } from "../../../adapters/argocd/testing/application.ts";
import { GitError } from "../../../adapters/git/port.ts";
import type { ApplicationSetView, ApplicationView } from "../../../core/argocd/views.ts";
import type { Batch, BatchTarget } from "../../../core/run/state/run.ts";
import type { Pins } from "../../resolve/pin-values.ts";
import { openFacts } from "./mirror-facts.ts";

const target = {
  key: "hub/argocd/web",
  edits: [{ kind: "value", file: "a.yaml", path: "tag", from: "v2", to: "v2" }],
} as unknown as BatchTarget;
const batch = { branch: "b", merged: { commit: COMMIT }, targets: [target] } as unknown as Batch;

const APPLICATION = { name: "web-eu", spec: { sources: [{ repoURL: REPO, path: "envs/eu" }] } } as unknown as ApplicationView;

/** What is known in the end of whether a pin is another at a revision, and how often its values were read for that. */
async function pinDiffers(
  values: Awaited<ReturnType<Pins["writtenAt"]>>,
  { seen = OLDER, of = target, at = {} as Record<string, Record<string, string>> } = {},
) {
  let reads = 0;
  const pins: Partial<Pins> = {
    async writtenAt() {
      reads++;
      return values;
    },
  };
  const filesAt = (id: string) => ({ paths: () => Object.keys(at[id] ?? {}), read: (file: string) => at[id]?.[file] ?? null });
  const commits = {
    lastTouchAfter: async () => undefined,
    snapshot: (id: string) => ({ with: async <T>(work: (files: ReturnType<typeof filesAt>) => T) => work(filesAt(id)) }),
  };
  const parts = [{ clock: { now: () => 0 }, repoURL: REPO }, commits, {}, pins] as unknown as Parameters<typeof openFacts>;
  const withFacts = openFacts(...parts);
  return { told: await withFacts((facts) => facts.pinDiffers(batch, of, seen, APPLICATION)), reads };
}

test("a pin whose values cannot be read is not known to be the same", async () => {
  expect(await pinDiffers(new Map())).toEqual({ told: "unknown", reads: 1 });
  expect(await pinDiffers(new Map([[target.key, ["v2"]]]), { seen: "main" })).toEqual({ told: "unknown", reads: 0 });
  const byBranch = { ...target, edits: [{ kind: "branch" }] } as unknown as BatchTarget;
  expect((await pinDiffers(new Map([[target.key, [null]]]), { of: byBranch })).told).toBe("unknown");
});

test("one that can be read is the same, or another", async () => {
  expect((await pinDiffers(new Map([[target.key, ["v2"]]]))).told).toBeUndefined();
  expect((await pinDiffers(new Map([[target.key, ["v1"]]]))).told).toEqual({ commit: OLDER });
});

test("a file that takes the pin's place is told where it came after the merge, and only where it is why", async () => {
  const pin = { kind: "value", file: "envs/eu/kustomization.yaml", path: "images[name=web].newTag", from: "v1", to: "v2" };
  const of = { ...target, edits: [pin] } as unknown as BatchTarget;
  const files = { [pin.file]: "images:\n  - name: web\n    newTag: v2\n" };
  const override = "envs/eu/.argocd-source-web-eu.yaml";
  const written = (image: string) => ({ ...files, [override]: `kustomize: { images: [ "${image}" ] }\n` });
  const told = async (at: Record<string, Record<string, string>>) => (await pinDiffers(new Map([[target.key, ["v2"]]]), { of, at })).told;
  expect(await told({ [COMMIT]: files, [OLDER]: written("web:v1") })).toEqual({ commit: OLDER, override });
  expect(await told({ [COMMIT]: written("web:v0"), [OLDER]: written("web:v1") })).toEqual({ commit: OLDER, override });
  expect(await told({ [COMMIT]: files, [OLDER]: written("api:v1") })).toBeUndefined();
  // What stood there when it merged was judged then.
  expect(await told({ [COMMIT]: written("web:v1"), [OLDER]: written("web:v1") })).toBeUndefined();
  expect(await told({ [COMMIT]: files, [OLDER]: files })).toBeUndefined();
});

/** What a child set yields for which `main` is at `OLDER`, where one directory lies, and at COMMIT, where another does. */
async function renderedNow({ repoURL = REPO, contains = false, said = undefined as Error | undefined } = {}) {
  const at: string[] = [];
  const folders: Record<string, string> = { [OLDER]: "apps/old/a.yaml", [COMMIT]: "apps/new/a.yaml" };
  const commits = {
    knownToContain: () => contains,
    snapshot: (id: string) => ({
      async with<T>(work: (files: { paths(): string[]; read(): null }) => T) {
        at.push(id);
        if (said !== undefined) throw said;
        return work({ paths: () => [folders[id] ?? ""], read: () => null });
      },
    }),
  };
  const remote = { last: { branch: "main", base: OLDER } };
  const log = { debug: () => undefined };
  const parts = [{ clock: { now: () => 0 }, repoURL: REPO, log }, commits, remote, {}] as unknown as Parameters<typeof openFacts>;
  const withFacts = openFacts(...parts);
  const generators = [{ git: { repoURL, revision: "main", directories: [{ path: "apps/*" }] } }];
  const source = { repoURL: REPO, path: "{{path}}", targetRevision: "main" };
  const template = { metadata: { name: "{{path.basename}}" }, spec: { project: "default", source, destination: {} } };
  const set = { namespace: "argocd", name: "web", uid: "1", spec: { generators, template } } as unknown as ApplicationSetView;
  const look = () => withFacts((facts) => facts.renderedNow(set, [], COMMIT));
  const [first, again] = [await look(), await look()];
  const told = typeof first === "object" ? [...first.keys()] : first;
  return { told, again: typeof again === "object" ? [...again.keys()] : again, at };
}

test("a child set that reads the config repo is rendered once at the base, or at the merge where the base lacks it yet", async () => {
  expect(await renderedNow({ contains: true })).toEqual({ told: ["old"], again: ["old"], at: [OLDER] });
  expect(await renderedNow()).toEqual({ told: ["new"], again: ["new"], at: [COMMIT] });
});

test("one that reads another repo is not rendered, and one whose files cannot be read now is not taken for rendered", async () => {
  expect(await renderedNow({ repoURL: "https://github.com/acme/other" })).toMatchObject({ told: undefined, again: undefined });
  const away = await renderedNow({ said: new GitError("Unavailable", "away") });
  expect(away).toMatchObject({ told: "unread", again: "unread" });
  expect(await renderedNow({ said: new GitError("Invalid", "a link") })).toMatchObject({ told: undefined });
});

const [AT_MERGE, BEFORE] = [COMMIT, OLDER];

/** What a parent's two children are told to be made from, look by look; `renders`: version by commit, undefined: it fails. */
async function madeBefore(renders: Record<string, string | undefined>, looks: readonly number[] = [0], live = "v2") {
  let now = 0;
  const asked: string[] = [];
  const sourceAt = (targetRevision: string) => ({ repoURL: REPO, path: "web", targetRevision });
  const childAt = (name: string, version: string) => ({
    ...{ kind: "argoproj.io/Application", namespace: "argocd", name, digest: version },
    argo: { kind: "Application", object: { metadata: { name, namespace: "argocd" }, spec: { source: sourceAt(version) } } },
  });
  const parent = {
    namespace: "argocd",
    name: "fleet",
    uid: "p",
    spec: { sources: [{ repoURL: REPO, path: "fleet", targetRevision: "main" }] },
  };
  const plane = {
    name: "hub",
    application: () => ({ ...parent, status: { sync: { revisions: [] } } }),
    async manifests(_namespace: string, _name: string, [commit = ""]: readonly string[]) {
      asked.push(commit);
      const version = renders[commit];
      if (version === undefined) return { kind: "failed", why: { code: "SAID", text: "away" } };
      return { kind: "done", objects: [childAt("web-a", version), childAt("web-b", version)] };
    },
  } as unknown as ControlPlane;
  const log = { info: () => undefined };
  const remote = { last: { branch: "main" } };
  const parts = [{ clock: { now: () => now }, repoURL: REPO, log }, {}, remote, {}] as unknown as Parameters<typeof openFacts>;
  const withFacts = openFacts(...parts);
  const told: unknown[] = [];
  for (const ms of looks) {
    now = ms;
    const children = ["web-a", "web-b"].map((name) => {
      const spec = { sources: [sourceAt(live)] };
      return { namespace: "argocd", name, uid: name, appliedBy: { name: "fleet" }, spec } as unknown as ApplicationView;
    });
    const merge = { commit: AT_MERGE, parent: BEFORE };
    const of = await withFacts((facts) => children.map((child) => facts.madeBefore(plane, child, merge)));
    told.push(of.map((sources) => sources?.[0]?.targetRevision));
  }
  return { told, asked: asked.toSorted() };
}

test("what a parent made of its children before a merge is asked once for all of them", async () => {
  const { told, asked } = await madeBefore({ [BEFORE]: "v1", [AT_MERGE]: "v2" }, [0, 60_000]);
  expect(told).toEqual(Array(2).fill(["v1", "v1"]));
  expect(asked).toEqual([BEFORE, AT_MERGE].toSorted());
});

test("where the merge makes another of them than lives, or Argo CD does not render it, nobody can tell; that is asked again later", async () => {
  expect((await madeBefore({ [BEFORE]: "v1", [AT_MERGE]: "v2" }, [0], "v3")).told).toEqual([[undefined, undefined]]);
  const failing = await madeBefore({ [BEFORE]: "v1" }, [0, 1000, 29_000, 31_000]);
  expect(failing.told).toEqual(Array(4).fill([undefined, undefined]));
  expect(failing.asked.filter((commit) => commit === AT_MERGE)).toHaveLength(2);
});
