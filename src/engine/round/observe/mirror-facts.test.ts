import { expect, test } from "vitest";
import { COMMIT, OLDER, REPO } from "../../../adapters/argocd/testing/application.ts";
import { GitError } from "../../../adapters/git/port.ts";
import type { ApplicationSetView } from "../../../core/argocd/views.ts";
import type { Batch, BatchTarget } from "../../../core/run/state/run.ts";
import type { Pins } from "../../resolve/pin-values.ts";
import { openFacts } from "./mirror-facts.ts";

const target = {
  key: "hub/argocd/web",
  edits: [{ kind: "value", file: "a.yaml", path: "tag", from: "v2", to: "v2" }],
} as unknown as BatchTarget;
const batch = { branch: "b", merged: { commit: COMMIT }, targets: [target] } as unknown as Batch;

/** What is known in the end of whether a pin is another at a revision, and how often its values were read for that. */
async function pinDiffers(values: Awaited<ReturnType<Pins["writtenAt"]>>, { seen = OLDER, of = target } = {}) {
  let reads = 0;
  const pins: Partial<Pins> = {
    async writtenAt() {
      reads++;
      return values;
    },
  };
  const commits = { lastTouchAfter: async () => undefined };
  const parts = [{ clock: { now: () => 0 }, repoURL: REPO }, commits, {}, pins] as unknown as Parameters<typeof openFacts>;
  const withFacts = openFacts(...parts);
  return { told: await withFacts((facts) => facts.pinDiffers(batch, of, seen)), reads };
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
