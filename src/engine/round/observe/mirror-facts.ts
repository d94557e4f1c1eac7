import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { GitError } from "../../../adapters/git/port.ts";
import type { AppSetCluster } from "../../../core/appset/types.ts";
import { drySHAOf, metadataOf } from "../../../core/argocd/hydrator-metadata.ts";
import { isFullSha } from "../../../core/argocd/liveness/moment.ts";
import type { Ancestry, HydratedFiles } from "../../../core/argocd/liveness/types.ts";
import { normalRepo } from "../../../core/argocd/same.ts";
import type { ApplicationSetView, ApplicationView, SourceView, SyncWindowsView } from "../../../core/argocd/views.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import type { Batch, BatchTarget } from "../../../core/run/state/run.ts";
import { specsOf } from "../../config-repo/appset-in-git.ts";
import type { Commits } from "../../config-repo/commits.ts";
import type { RemoteHeads } from "../../config-repo/remote-heads.ts";
import { renderApart } from "../../config-repo/render-set.ts";
import { isImageEdit, type Pins } from "../../resolve/pin-values.ts";
import type { RepoContext } from "../context.ts";
import type { Facts, PinDiffers, SetNow, WithFacts } from "./facts.ts";
import { openMadeBefore } from "./made-sides.ts";
import { openPinSince } from "./pin-since.ts";

const [KEEP_TAG_MS, KEEP_WINDOWS_MS] = [60_000, 30_000];
const FETCH_EVERY_MS = 30_000;
const MOST_KEPT = 5000;
/** A tag leads to a commit, a commit to its ancestry, that to a pin: one pass each, and one to spare. */
const MOST_PASSES = 5;
/** A few lines of JSON, with the commands that made the manifests. */
const MOST_METADATA = 64 * 1024;
const ANSWERS = { true: "contains", false: "missing", undefined: "unknown" } as const;

type Context = Pick<RepoContext, "mirror" | "clock" | "log" | "repoURL">;

/** One pass of a judgement. */
interface Pass {
  now: number;
  /** Answers of the same judgement, which hold for no other. */
  known: { ancestry: Map<string, Ancestry>; unread: Set<string> };
  asked: Map<string, () => Promise<unknown>>;
  branches: Set<string>;
}

export function openFacts(context: Context, commits: Commits, remote: RemoteHeads, pins: Pins): WithFacts {
  const facts = new MirrorFacts(context, commits, remote, pins);
  return (judge) => facts.judge(judge);
}

/** What is kept holds for a while only, or is dear: losing it costs a question each. */
class MirrorFacts {
  readonly #context: Context;
  readonly #commits: Commits;
  readonly #remote: RemoteHeads;
  readonly #pins: Pins;
  readonly #askPin: ReturnType<typeof openPinSince>;
  readonly #madeBefore: ReturnType<typeof openMadeBefore>;
  readonly #tags = new BoundedMap<string, { at: number; commit: string | undefined }>(MOST_KEPT);
  readonly #differences = new BoundedMap<string, PinDiffers | null>(MOST_KEPT);
  readonly #images = new BoundedMap<string, readonly string[]>(MOST_KEPT);
  readonly #hydrated = new BoundedMap<string, HydratedFiles>(MOST_KEPT);
  readonly #sets = new WeakMap<ApplicationSetView, { key: string; specs: SetNow | undefined }>();
  readonly #windows = new BoundedMap<string, { at: number; view: SyncWindowsView | undefined }>(MOST_KEPT);
  /** Revisions our mirror does not have, and when it was last fetched for them. */
  readonly #missing = new BoundedMap<string, number>(MOST_KEPT);

  constructor(context: Context, commits: Commits, remote: RemoteHeads, pins: Pins) {
    this.#context = context;
    this.#commits = commits;
    this.#remote = remote;
    this.#pins = pins;
    this.#askPin = openPinSince(context.repoURL, commits, pins);
    this.#madeBefore = openMadeBefore(context);
  }

  async judge<T>(judge: (facts: Facts) => T): Promise<T> {
    const known = { ancestry: new Map<string, Ancestry>(), unread: new Set<string>() };
    for (let pass = 1; ; pass++) {
      const asked: Pass["asked"] = new Map();
      const result = judge(this.#factsOf({ now: this.#context.clock.now(), known, asked, branches: new Set() }));
      if (asked.size === 0 || pass === MOST_PASSES) return result;
      for (const ask of asked.values()) await ask();
    }
  }

  #factsOf(pass: Pass): Facts {
    return {
      ancestry: (seen, commit) => this.#ancestryOf(pass, seen, commit),
      resolve: (url, revision) => this.#resolve(pass, url, revision),
      pinDiffers: (batch, target, seen, application) => this.#pinDiffers(pass, batch, target, seen, application),
      images: (batch, target) => this.#imagesOf(pass, batch, target),
      hydrated: (source, seen) => this.#hydratedOf(pass, source, seen),
      renderedNow: (set, clusters, commit) => this.#renderedNow(pass, set, clusters, commit),
      windows: (plane, namespace, name) => this.#windowsOf(pass, plane, namespace, name),
      madeBefore: (plane, application, merge) => this.#madeBefore(plane, application, merge, this.#remote.last.branch, pass.asked),
    };
  }

  #ancestryOf({ known, asked }: Pass, seen: string, commit: string): Ancestry {
    if (!isFullSha(seen)) return "unknown";
    const contained = this.#commits.knownToContain(seen, commit);
    if (contained !== undefined) return contained ? "contains" : "missing";
    const key = `${commit} in ${seen}`;
    const answer = known.ancestry.get(key);
    if (answer === undefined) asked.set(key, async () => known.ancestry.set(key, await this.#askAncestry(seen, commit)));
    return answer ?? "unknown";
  }

  /** What the mirror does not have is fetched: the base first, in the next round, then whatever else the repo has. */
  async #askAncestry(seen: string, commit: string): Promise<Ancestry> {
    const answer = ANSWERS[`${await this.#commits.contains(seen, commit)}`];
    if (answer !== "unknown") {
      this.#missing.delete(seen);
      return answer;
    }
    const now = this.#context.clock.now();
    const since = this.#missing.get(seen);
    if (since === undefined) {
      this.#remote.hear();
      this.#missing.set(seen, now);
    } else if (now - since >= FETCH_EVERY_MS) {
      this.#missing.set(seen, now);
      await this.#context.mirror.fetch();
      return ANSWERS[`${await this.#commits.contains(seen, commit)}`];
    }
    return "unknown";
  }

  #resolve({ now, asked }: Pass, url: string, revision: string): string | undefined {
    if (isFullSha(revision) || normalRepo(url) !== normalRepo(this.#context.repoURL)) return undefined;
    const known = this.#tags.get(revision);
    if (known === undefined || now - known.at >= KEEP_TAG_MS)
      asked.set(`tag ${revision}`, async () => this.#tags.set(revision, { at: now, commit: await commitOfTag(this.#context, revision) }));
    return known?.commit;
  }

  #pinDiffers({ known, asked }: Pass, batch: Batch, target: BatchTarget, seen: string, application: ApplicationView | undefined) {
    const merged = batch.merged?.commit;
    if (merged === undefined || !isFullSha(seen)) return "unknown";
    if (merged === seen) return undefined;
    const key = `${merged} ${target.key} ${seen}`;
    if (known.unread.has(key)) return "unknown";
    const differs = this.#differences.get(key);
    if (differs !== undefined) return differs ?? undefined;
    asked.set(`pin ${key}`, async () => {
      const answer = await this.#askPin(batch, target, merged, seen, application);
      if (answer === "unknown") known.unread.add(key);
      else this.#differences.set(key, answer);
    });
    return "unknown";
  }

  #imagesOf({ asked }: Pass, batch: Batch, target: BatchTarget): readonly string[] | undefined {
    const merged = batch.merged?.commit;
    if (merged === undefined || !target.edits.some(isImageEdit)) return undefined;
    const key = `${merged} ${target.key}`;
    const known = this.#images.get(key);
    if (known === undefined) asked.set(`images ${key}`, async () => this.#images.set(key, await this.#pins.imagesAt(merged, target)));
    return known;
  }

  #hydratedOf({ asked, branches }: Pass, source: SourceView, seen: string): HydratedFiles {
    if (normalRepo(source.repoURL) !== normalRepo(this.#context.repoURL)) return "unreadable";
    const file = metadataOf(source.path ?? "");
    const key = `${seen} ${file}`;
    const known = this.#hydrated.get(key);
    if (known !== undefined) return known;
    if (source.targetRevision !== undefined) branches.add(source.targetRevision);
    asked.set(`hydrated ${key}`, async () => {
      const files = await this.#askHydrated(seen, file, branches);
      if (files !== "unknown") this.#hydrated.set(key, files);
    });
    return "unknown";
  }

  /** Of all that are asked for in one pass the branches are fetched at once. */
  async #askHydrated(seen: string, file: string, branches: Set<string>): Promise<HydratedFiles> {
    const { mirror, clock, log } = this.#context;
    try {
      const now = clock.now();
      if ((await mirror.commitInfo(seen)) === undefined) {
        const since = this.#missing.get(seen);
        if (branches.size === 0 || (since !== undefined && now - since < FETCH_EVERY_MS)) return "unknown";
        this.#missing.set(seen, now);
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

  #renderedNow(pass: Pass, set: ApplicationSetView, clusters: readonly AppSetCluster[], commit: string): SetNow | "unread" | undefined {
    const { branch, base } = this.#remote.last;
    if (branch === undefined) return "unread";
    const isBehind = base === undefined || (base !== commit && this.#ancestryOf(pass, base, commit) !== "contains");
    const at = isBehind ? commit : base;
    const key = `${at} ${JSON.stringify(clusters)}`;
    const known = this.#sets.get(set);
    if (known?.key === key) return known.specs;
    pass.asked.set(`set ${set.namespace}/${set.name} ${key}`, async () => {
      const specs = await this.#askSet(set, clusters, at, branch);
      if (specs !== "unread") this.#sets.set(set, { key, specs });
    });
    return "unread";
  }

  async #askSet({ name, namespace, uid, spec }: ApplicationSetView, clusters: readonly AppSetCluster[], at: string, branch: string) {
    const { repoURL, log } = this.#context;
    const set = { file: "", object: { metadata: { name, namespace, uid }, spec } };
    try {
      return specsOf(await this.#commits.snapshot(at).with((files) => renderApart(set, clusters, files, repoURL, branch)));
    } catch (error) {
      log.debug({ set: `${namespace}/${name}`, commit: at, error: String(error) }, "a child set could not be rendered");
      return error instanceof GitError && error.kind !== "Unavailable" ? undefined : "unread";
    }
  }

  #windowsOf({ now, asked }: Pass, plane: ControlPlane, namespace: string, name: string): SyncWindowsView | undefined {
    const { log } = this.#context;
    const key = `${plane.name}/${namespace}/${name}`;
    const known = this.#windows.get(key);
    if (plane.syncWindows !== undefined && (known === undefined || now - known.at >= KEEP_WINDOWS_MS))
      asked.set(`windows ${key}`, async () => this.#windows.set(key, { at: now, view: await askWindows(log, plane, namespace, name) }));
    return known?.view;
  }
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
