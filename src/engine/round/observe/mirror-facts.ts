import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { isFullSha } from "../../../core/argocd/liveness/moment.ts";
import type { Ancestry } from "../../../core/argocd/liveness/types.ts";
import { normalRepo } from "../../../core/argocd/same.ts";
import type { SyncWindowsView } from "../../../core/argocd/views.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import type { Batch, BatchTarget } from "../../../core/run/state/run.ts";
import type { Commits } from "../../config-repo/commits.ts";
import type { RemoteHeads } from "../../config-repo/remote-heads.ts";
import type { Pins } from "../../resolve/pin-values.ts";
import type { RepoContext } from "../context.ts";

/** What judging a target may ask of our own mirror and of Argo CD, answered at once or in the next pass. */
export interface Facts {
  /** Whether a revision that Argo CD has seen contains a commit. */
  ancestry(seen: string, commit: string): Ancestry;
  /** The commit that a tag of the config repo means; undefined: none, or of another repo. */
  resolve(repoURL: string, revision: string): string | undefined;
  /** The commit up to `seen` that gave a pin of the target another value than this run set; undefined: none did. */
  pinDiffers(batch: Batch, target: BatchTarget, seen: string): { commit: string } | undefined;
  /** undefined: they cannot be seen. */
  windows(plane: ControlPlane, namespace: string, name: string): SyncWindowsView | undefined;
}

/** Answers that hold for a while only, or are dear. Losing them costs a question each. */
interface Kept {
  tags: Map<string, { at: number; commit: string | undefined }>;
  pins: Map<string, { commit: string } | null>;
  windows: Map<string, { at: number; view: SyncWindowsView | undefined }>;
  /** Revisions our mirror does not have, and when it was last fetched for them. */
  missing: Map<string, number>;
}

const KEEP_TAG_MS = 60_000;
const KEEP_WINDOWS_MS = 30_000;
const FETCH_EVERY_MS = 30_000;
const MOST_KEPT = 5000;
/** A tag leads to a commit, a commit to its ancestry, that to a pin: one pass each, and one to spare. */
const MOST_PASSES = 5;

/** What answers them is made of. */
interface Parts {
  context: RepoContext;
  commits: Commits;
  remote: RemoteHeads;
  pins: Pins;
}

/** Runs a synchronous judgement; what it asks and nobody knows yet is found out, and it is run again. */
export type WithFacts = <T>(judge: (facts: Facts) => T) => Promise<T>;

export function openFacts(parts: Parts): WithFacts {
  const kept: Kept = {
    tags: new BoundedMap(MOST_KEPT),
    pins: new BoundedMap(MOST_KEPT),
    windows: new BoundedMap(MOST_KEPT),
    missing: new BoundedMap(MOST_KEPT),
  };
  return (judge) => withFacts(parts, kept, judge);
}

async function withFacts<T>(parts: Parts, kept: Kept, judge: (facts: Facts) => T): Promise<T> {
  const round = { ancestry: new Map<string, Ancestry>() };
  for (let pass = 1; ; pass++) {
    const asked = new Map<string, () => Promise<void>>();
    const result = judge(factsFrom(parts, kept, round, asked));
    if (asked.size === 0 || pass === MOST_PASSES) return result;
    for (const ask of asked.values()) await ask();
  }
}

function factsFrom(parts: Parts, kept: Kept, round: { ancestry: Map<string, Ancestry> }, asked: Map<string, () => Promise<void>>): Facts {
  const { context, commits } = parts;
  const now = context.clock.now();
  return {
    ancestry(seen, commit) {
      if (!isFullSha(seen)) return "unknown";
      const key = `${commit} in ${seen}`;
      const known = commits.knownToContain(seen, commit);
      if (known !== undefined) return known ? "contains" : "missing";
      const answer = round.ancestry.get(key);
      if (answer === undefined) asked.set(key, async () => void round.ancestry.set(key, await askAncestry(parts, kept, seen, commit)));
      return answer ?? "unknown";
    },
    resolve(repoURL, revision) {
      if (isFullSha(revision) || normalRepo(repoURL) !== normalRepo(context.repoURL)) return undefined;
      const known = kept.tags.get(revision);
      if (known === undefined || now - known.at >= KEEP_TAG_MS) {
        asked.set(`tag ${revision}`, async () => void kept.tags.set(revision, { at: now, commit: await commitOfTag(context, revision) }));
      }
      return known?.commit;
    },
    pinDiffers(batch, target, seen) {
      const merged = batch.merged?.commit;
      if (merged === undefined || merged === seen || !isFullSha(seen)) return undefined;
      const key = `${merged} ${target.key} ${seen}`;
      const known = kept.pins.get(key);
      if (known === undefined) asked.set(`pin ${key}`, async () => void kept.pins.set(key, await askPin(parts, batch, target, seen)));
      return known ?? undefined;
    },
    windows(plane, namespace, name) {
      const key = `${plane.name}/${namespace}/${name}`;
      const known = kept.windows.get(key);
      if (plane.syncWindows !== undefined && (known === undefined || now - known.at >= KEEP_WINDOWS_MS)) {
        asked.set(
          `windows ${key}`,
          async () => void kept.windows.set(key, { at: now, view: await askWindows(context, plane, namespace, name) }),
        );
      }
      return known?.view;
    },
  };
}

const ANSWERS = { true: "contains", false: "missing", undefined: "unknown" } as const;

/** What the mirror does not have is fetched: the base first, in the next round, then whatever else the repo has. */
async function askAncestry({ context, commits, remote }: Parts, kept: Kept, seen: string, commit: string): Promise<Ancestry> {
  const answer = ANSWERS[`${await commits.contains(seen, commit)}`];
  if (answer !== "unknown") {
    kept.missing.delete(seen);
    return answer;
  }
  const now = context.clock.now();
  const since = kept.missing.get(seen);
  if (since === undefined) {
    remote.hear();
    kept.missing.set(seen, now);
  } else if (now - since >= FETCH_EVERY_MS) {
    kept.missing.set(seen, now);
    await context.mirror.fetch();
    return ANSWERS[`${await commits.contains(seen, commit)}`];
  }
  return "unknown";
}

/** undefined: there is no such tag, or its name is none. */
async function commitOfTag({ mirror, log }: RepoContext, tag: string): Promise<string | undefined> {
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

async function askPin({ commits, pins }: Parts, batch: Batch, target: BatchTarget, seen: string): Promise<{ commit: string } | null> {
  const merged = batch.merged?.commit ?? seen;
  const values = (await pins.writtenAt(seen, batch)).get(target.key);
  // A file that cannot be read there is nobody's word that the pin is another.
  if (values === undefined) return null;
  const at = target.edits.findIndex((edit, index) => edit.kind !== "branch" && values[index] !== edit.to);
  const edit = target.edits[at];
  if (edit === undefined) return null;
  const commit = await commits.lastTouchAfter(merged, seen, edit.file);
  return { commit: commit?.sha ?? seen };
}

async function askWindows(
  { log }: RepoContext,
  plane: ControlPlane,
  namespace: string,
  name: string,
): Promise<SyncWindowsView | undefined> {
  try {
    return await plane.syncWindows?.(namespace, name);
  } catch (error) {
    log.debug({ plane: plane.name, application: name, error: String(error) }, "sync windows could not be read");
    return undefined;
  }
}
