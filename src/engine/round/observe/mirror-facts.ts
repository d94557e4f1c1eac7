import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { GitError } from "../../../adapters/git/port.ts";
import type { AppSetCluster } from "../../../core/appset/types.ts";
import { drySHAOf, metadataOf } from "../../../core/argocd/hydrator-metadata.ts";
import { isFullSha } from "../../../core/argocd/liveness/moment.ts";
import type { Ancestry, HydratedFiles } from "../../../core/argocd/liveness/types.ts";
import { normalRepo } from "../../../core/argocd/same.ts";
import type { ApplicationSetView, SyncWindowsView } from "../../../core/argocd/views.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { specsOf } from "../../config-repo/appset-in-git.ts";
import type { Commits } from "../../config-repo/commits.ts";
import { parentOn } from "../../config-repo/parent-renders.ts";
import type { RemoteHeads } from "../../config-repo/remote-heads.ts";
import { renderApart } from "../../config-repo/render-set.ts";
import { isImageEdit, type Pins } from "../../resolve/pin-values.ts";
import type { RepoContext } from "../context.ts";
import type { Facts, PinDiffers, SetNow, WithFacts } from "./facts.ts";
import { type MadeSides, openMadeSides, sourcesBefore } from "./made-sides.ts";
import { openPinSince } from "./pin-since.ts";

const KEEP_TAG_MS = 60_000;
const KEEP_WINDOWS_MS = 30_000;
const FETCH_EVERY_MS = 30_000;
const MOST_KEPT = 5000;
/** What each makes is kept whole. */
const MOST_PARENTS = 64;
/** A tag leads to a commit, a commit to its ancestry, that to a pin: one pass each, and one to spare. */
const MOST_PASSES = 5;

/** A few lines of JSON, with the commands that made the manifests. */
const MOST_METADATA = 64 * 1024;

const ANSWERS = { true: "contains", false: "missing", undefined: "unknown" } as const;

type Context = Pick<RepoContext, "mirror" | "clock" | "log" | "repoURL">;

/** What is kept holds for a while only, or is dear: losing it costs a question each. */
export function openFacts({ mirror, clock, log, repoURL }: Context, commits: Commits, remote: RemoteHeads, pins: Pins): WithFacts {
  const keptTags = new BoundedMap<string, { at: number; commit: string | undefined }>(MOST_KEPT);
  const keptPins = new BoundedMap<string, PinDiffers | null>(MOST_KEPT);
  const keptImages = new BoundedMap<string, readonly string[]>(MOST_KEPT);
  const keptHydrated = new BoundedMap<string, HydratedFiles>(MOST_KEPT);
  const keptSets = new WeakMap<ApplicationSetView, { key: string; specs: SetNow | undefined }>();
  const keptWindows = new BoundedMap<string, { at: number; view: SyncWindowsView | undefined }>(MOST_KEPT);
  const keptMade = new BoundedMap<string, { at: number; sides: MadeSides | undefined }>(MOST_PARENTS);
  const askPin = openPinSince(repoURL, commits, pins);
  const askMade = openMadeSides({ clock, log, repoURL });
  /** Revisions our mirror does not have, and when it was last fetched for them. */
  const missing = new BoundedMap<string, number>(MOST_KEPT);

  function factsFrom(ancestry: Map<string, Ancestry>, unread: Set<string>, asked: Map<string, () => Promise<unknown>>): Facts {
    const now = clock.now();
    const branches = new Set<string>();
    return {
      ancestry(seen, commit) {
        if (!isFullSha(seen)) return "unknown";
        const known = commits.knownToContain(seen, commit);
        if (known !== undefined) return known ? "contains" : "missing";
        const key = `${commit} in ${seen}`;
        const answer = ancestry.get(key);
        if (answer === undefined) asked.set(key, async () => ancestry.set(key, await askAncestry(seen, commit)));
        return answer ?? "unknown";
      },
      resolve(url, revision) {
        if (isFullSha(revision) || normalRepo(url) !== normalRepo(repoURL)) return undefined;
        const known = keptTags.get(revision);
        if (known === undefined || now - known.at >= KEEP_TAG_MS)
          asked.set(`tag ${revision}`, async () =>
            keptTags.set(revision, { at: now, commit: await commitOfTag({ mirror, log }, revision) }),
          );
        return known?.commit;
      },
      pinDiffers(batch, target, seen, application) {
        const merged = batch.merged?.commit;
        if (merged === undefined || !isFullSha(seen)) return "unknown";
        if (merged === seen) return undefined;
        const key = `${merged} ${target.key} ${seen}`;
        if (unread.has(key)) return "unknown";
        const known = keptPins.get(key);
        if (known !== undefined) return known ?? undefined;
        asked.set(`pin ${key}`, async () => {
          const answer = await askPin(batch, target, merged, seen, application);
          if (answer === "unknown") unread.add(key);
          else keptPins.set(key, answer);
        });
        return "unknown";
      },
      images(batch, target) {
        const merged = batch.merged?.commit;
        if (merged === undefined || !target.edits.some(isImageEdit)) return undefined;
        const key = `${merged} ${target.key}`;
        const known = keptImages.get(key);
        if (known === undefined) asked.set(`images ${key}`, async () => keptImages.set(key, await pins.imagesAt(merged, target)));
        return known;
      },
      hydrated(source, seen) {
        if (normalRepo(source.repoURL) !== normalRepo(repoURL)) return "unreadable";
        const file = metadataOf(source.path ?? "");
        const key = `${seen} ${file}`;
        const known = keptHydrated.get(key);
        if (known !== undefined) return known;
        if (source.targetRevision !== undefined) branches.add(source.targetRevision);
        asked.set(`hydrated ${key}`, async () => {
          const files = await askHydrated(seen, file, branches);
          if (files !== "unknown") keptHydrated.set(key, files);
        });
        return "unknown";
      },
      renderedNow(set, clusters, commit) {
        const { branch, base } = remote.last;
        if (branch === undefined) return "unread";
        const isBehind = base === undefined || (base !== commit && this.ancestry(base, commit) !== "contains");
        const at = isBehind ? commit : base;
        const key = `${at} ${JSON.stringify(clusters)}`;
        const known = keptSets.get(set);
        if (known?.key === key) return known.specs;
        asked.set(`set ${set.namespace}/${set.name} ${key}`, async () => {
          const specs = await askSet({ commits, repoURL, log }, set, clusters, at, branch);
          if (specs !== "unread") keptSets.set(set, { key, specs });
        });
        return "unread";
      },
      windows(plane, namespace, name) {
        const key = `${plane.name}/${namespace}/${name}`;
        const known = keptWindows.get(key);
        if (plane.syncWindows !== undefined && (known === undefined || now - known.at >= KEEP_WINDOWS_MS))
          asked.set(`windows ${key}`, async () => keptWindows.set(key, { at: now, view: await askWindows(log, plane, namespace, name) }));
        return known?.view;
      },
      madeBefore(plane, application, merge) {
        const { branch } = remote.last;
        const parent = parentOn(plane, application.namespace, application.appliedBy);
        if (parent === undefined || branch === undefined) return undefined;
        // It has many children, and is asked once for all of them.
        const key = `${plane.name}/${parent.uid} ${merge.commit}`;
        const known = keptMade.get(key);
        if (known === undefined || (known.sides === undefined && now - known.at >= FETCH_EVERY_MS))
          asked.set(`made ${key}`, async () => {
            const sides = await askMade(plane, parent, merge, branch);
            keptMade.set(key, { at: clock.now(), sides });
          });
        return known?.sides && sourcesBefore(known.sides, plane, application);
      },
    };
  }

  /** What the mirror does not have is fetched: the base first, in the next round, then whatever else the repo has. */
  async function askAncestry(seen: string, commit: string): Promise<Ancestry> {
    const answer = ANSWERS[`${await commits.contains(seen, commit)}`];
    if (answer !== "unknown") {
      missing.delete(seen);
      return answer;
    }
    const now = clock.now();
    const since = missing.get(seen);
    if (since === undefined) {
      remote.hear();
      missing.set(seen, now);
    } else if (now - since >= FETCH_EVERY_MS) {
      missing.set(seen, now);
      await mirror.fetch();
      return ANSWERS[`${await commits.contains(seen, commit)}`];
    }
    return "unknown";
  }

  /** Of all that are asked for in one pass the branches are fetched at once. */
  async function askHydrated(seen: string, file: string, branches: Set<string>): Promise<HydratedFiles> {
    try {
      const now = clock.now();
      if ((await mirror.commitInfo(seen)) === undefined) {
        const since = missing.get(seen);
        if (branches.size === 0 || (since !== undefined && now - since < FETCH_EVERY_MS)) return "unknown";
        missing.set(seen, now);
        const wanted = [...branches];
        branches.clear();
        await mirror.fetch(wanted);
        if ((await mirror.commitInfo(seen)) === undefined) return "unknown";
      }
      const text = (await mirror.readFiles(seen, [file], { maxBytes: MOST_METADATA })).get(file);
      return { drySHA: drySHAOf(text ?? "") };
    } catch (error) {
      log.debug({ revision: seen, file, error: String(error) }, "what was hydrated could not be read");
      return "unknown";
    }
  }

  return async (judge) => {
    const ancestry = new Map<string, Ancestry>();
    const unread = new Set<string>();
    for (let pass = 1; ; pass++) {
      const asked = new Map<string, () => Promise<unknown>>();
      const result = judge(factsFrom(ancestry, unread, asked));
      if (asked.size === 0 || pass === MOST_PASSES) return result;
      for (const ask of asked.values()) await ask();
    }
  };
}

/** undefined: there is no such tag, or its name is none. */
async function commitOfTag({ mirror, log }: Pick<Context, "mirror" | "log">, tag: string): Promise<string | undefined> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._/+-]{0,200}$/.test(tag)) return undefined;
  const ref = `refs/tags/${tag}`;
  try {
    await mirror.fetch([ref]);
    return await mirror.resolve(ref);
  } catch (error) {
    log.debug({ tag, error: String(error) }, "a tag could not be looked up");
    return undefined;
  }
}

async function askWindows(log: Context["log"], plane: ControlPlane, namespace: string, name: string): Promise<SyncWindowsView | undefined> {
  try {
    return await plane.syncWindows?.(namespace, name);
  } catch (error) {
    log.debug({ plane: plane.name, application: name, error: String(error) }, "sync windows could not be read");
    return undefined;
  }
}

async function askSet(
  { commits, repoURL, log }: Pick<Context, "repoURL" | "log"> & { commits: Commits },
  { name, namespace, uid, spec }: ApplicationSetView,
  clusters: readonly AppSetCluster[],
  at: string,
  branch: string,
) {
  const set = { file: "", object: { metadata: { name, namespace, uid }, spec } };
  try {
    return specsOf(await commits.snapshot(at).with((files) => renderApart(set, clusters, files, repoURL, branch)));
  } catch (error) {
    log.debug({ set: `${namespace}/${name}`, commit: at, error: String(error) }, "a child set could not be rendered");
    return error instanceof GitError && error.kind !== "Unavailable" ? undefined : "unread";
  }
}
