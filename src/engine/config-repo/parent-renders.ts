/**
 * What a parent Application makes of a commit of the config repo, asked of Argo CD: the sets and Applications that Helm or kustomize gives it.
 * Only what Argo CD itself renders tells what a change of values or patches would do. Called by the render guard and by the judge of pull
 * requests; a commit's answer is kept for a while, since neither changes it.
 */
import semver from "semver";
import type { ControlPlane, RenderedObject } from "../../adapters/argocd/port.ts";
import type { AppliedBy } from "../../core/argocd/decode/tracking.ts";
import type { ApplicationView, SourceView } from "../../core/argocd/views.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import { isRecord } from "../../core/base/is-record.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import { engineReason } from "../../core/reasons/engine.ts";
import { isBaseOf } from "../lint/outside-readers.ts";
import type { RepoContext } from "../round/context.ts";

/** By kind, namespace and name. */
export type RenderedObjects = ReadonlyMap<string, RenderedObject>;

/** `unasked`: there is nobody to ask, or nobody who would answer. `failed`: it may be otherwise later. */
export type ParentAnswer = { kind: "rendered"; objects: RenderedObjects } | { kind: "unasked" } | { kind: "failed"; why: AnyReason };

export interface ParentRenders {
  at(plane: ControlPlane, parent: ApplicationView, commit: string, baseBranch: string): Promise<ParentAnswer>;
  /** Of each source another revision than the spec's; "" leaves it. */
  atRevisions(plane: ControlPlane, parent: ApplicationView, revisions: readonly string[]): Promise<ParentAnswer>;
}

const MOST_KEPT = 32;
/** Of the texts that answers were read from; what comes of them takes some times as much. */
const MOST_KEPT_BYTES = 32 << 20;
const KEPT_MS = 10 * 60_000;
/** Where a source from elsewhere follows what moves: both sides of a comparison shall have the same of it. */
const KEPT_MOVING_MS = 30_000;

export function openParentRenders({ clock, log, repoURL }: Pick<RepoContext, "clock" | "log" | "repoURL">): ParentRenders {
  const kept = new BoundedMap<string, { objects: RenderedObjects; until: number; bytes: number }>(MOST_KEPT);
  /** The oldest first: what nobody believes any more, and what is too much together. */
  const forget = () => {
    let bytes = [...kept.values()].reduce((sum, one) => sum + one.bytes, 0);
    for (const [key, one] of kept) {
      if (bytes <= MOST_KEPT_BYTES && clock.now() < one.until) return;
      kept.delete(key);
      bytes -= one.bytes;
    }
  };
  async function ask(plane: ControlPlane, parent: ApplicationView, revisions: readonly string[]): Promise<ParentAnswer> {
    const { namespace, name, uid, spec, status } = parent;
    const commit = revisions.find((one) => one !== "") ?? "";
    const foreign = spec.sources.flatMap((source, index) => (revisions[index] === "" ? { source, now: status.sync.revisions[index] } : []));
    const key = JSON.stringify([plane.name, namespace, name, uid, revisions, spec.sources, foreign.map(({ now }) => now)]);
    const known = kept.get(key);
    if (known !== undefined && clock.now() < known.until) return { kind: "rendered", objects: known.objects };
    if (plane.manifests === undefined) return { kind: "unasked" };
    const found = await plane.manifests(namespace, name, revisions);
    if (found.kind === "done") {
      const objects = byId(found.objects);
      const isMoving = foreign.some(({ source }) => mayMove(source)) || revisions.some((one) => one !== "" && !/^[0-9a-f]{40}$/.test(one));
      const until = clock.now() + (isMoving ? KEPT_MOVING_MS : KEPT_MS);
      kept.set(key, { objects, until, bytes: found.objects.reduce((sum, { bytes = 0 }) => sum + bytes, 0) });
      forget();
      return { kind: "rendered", objects };
    }
    log.info({ plane: plane.name, parent: name, commit, kind: found.kind, why: found.why }, "Argo CD did not render a parent Application");
    if (found.kind === "forbidden") return { kind: "unasked" };
    return { kind: "failed", why: engineReason("PARENT_UNRENDERED", { plane: plane.name, parent: name, commit, because: found.why }) };
  }

  return {
    async at(plane, parent, commit, baseBranch) {
      if (!isAskable(plane, parent, { repoURL, baseBranch })) return { kind: "unasked" };
      const isBase = isBaseOf({ repoURL, baseBranch });
      const isOfCommit = (source: SourceView) => source.chart === undefined && isBase(source);
      const revisions = parent.spec.sources.map((source) => (isOfCommit(source) ? commit : ""));
      return ask(plane, parent, revisions);
    },
    async atRevisions(plane, parent, revisions) {
      return parent.spec.sourceHydrator === undefined ? ask(plane, parent, revisions) : { kind: "unasked" };
    },
  };
}

/** Whether what a source names may be another thing tomorrow: a branch, a tag, a range of a chart's versions. */
function mayMove({ chart, targetRevision = "" }: SourceView): boolean {
  return chart === undefined ? !/^[0-9a-f]{40}$/.test(targetRevision) : semver.valid(targetRevision) === null;
}

/** Whether Argo CD can be asked what the Application makes of a commit of this repo. Of a hydrated one it is what the hydrator makes. */
export function isAskable(
  plane: ControlPlane,
  { spec }: Pick<ApplicationView, "spec">,
  base: { repoURL: string; baseBranch: string },
): boolean {
  if (plane.manifests === undefined || spec.sourceHydrator !== undefined) return false;
  const isBase = isBaseOf(base);
  return spec.sources.some((source) => source.chart === undefined && isBase(source));
}

/** The Application by which an object of this namespace is applied, as it lives. */
export function parentOn(plane: ControlPlane, namespace: string, by: AppliedBy | undefined): ApplicationView | undefined {
  return by && plane.application(by.namespace ?? namespace, by.name);
}

export function idOf({ kind, namespace, name }: Pick<RenderedObject, "kind" | "namespace" | "name">): string {
  return `${kind} ${namespace}/${name}`;
}

/** Of several of one name Argo CD applies the last; that none of them changes is seen of all. */
function byId(objects: readonly RenderedObject[]): RenderedObjects {
  const all = new Map<string, RenderedObject>();
  for (const object of objects) {
    const before = all.get(idOf(object));
    all.set(idOf(object), before === undefined ? object : { ...object, digest: `${before.digest} ${object.digest}` });
  }
  return all;
}

/** Returns what a parent makes of the base with a change on top that was made on an older commit. Or what both change. */
export function onBase(
  old: RenderedObjects,
  changed: RenderedObjects,
  base: RenderedObjects,
): { objects: RenderedObjects } | { both: RenderedObject } {
  const all = new Map<string, RenderedObject>();
  for (const id of new Set([...old.keys(), ...changed.keys(), ...base.keys()])) {
    const [was, is, now] = [old.get(id), changed.get(id), base.get(id)];
    const one = was?.digest === is?.digest ? now : was?.digest === now?.digest ? is : withBoth(was, is, now);
    if (one === "apart") return { both: (is ?? now ?? was) as RenderedObject };
    if (one !== undefined) all.set(id, one);
  }
  return { objects: all };
}

/** An object that both change, where they change different values of it. */
function withBoth(
  was: RenderedObject | undefined,
  is: RenderedObject | undefined,
  now: RenderedObject | undefined,
): RenderedObject | "apart" | undefined {
  if (is?.digest === now?.digest) return now;
  if (was?.argo === undefined || is?.argo === undefined || now?.argo === undefined) return "apart";
  const { value: object } = merged(was.argo.object, is.argo.object, now.argo.object);
  if (!isRecord(object)) return "apart";
  return { ...now, digest: `${now.digest} ${is.digest}`, argo: { ...now.argo, object } };
}

const APART = Symbol("both change it");

/** What becomes of one value, and which of its versions are the same. */
interface Merged {
  value: unknown;
  /** Ours is as it was; so is theirs; both are one. */
  mine: boolean;
  theirs: boolean;
  alike: boolean;
}

/** Three versions of one value: what one side leaves as it was is the other's. Each part is looked at once, however deep it lies. */
function merged(was: unknown, is: unknown, now: unknown): Merged {
  if (Array.isArray(was) && Array.isArray(is) && Array.isArray(now) && was.length === is.length && was.length === now.length) {
    const items = was.map((item: unknown, index) => merged(item, is[index], now[index]));
    return joined(is, now, items, () => items.map(({ value }) => value));
  }
  if (isRecord(was) && isRecord(is) && isRecord(now)) {
    const keys = [...new Set([...Object.keys(was), ...Object.keys(is), ...Object.keys(now)])];
    const parts = keys.map((key) => merged(was[key], is[key], now[key]));
    const entries = () => keys.map((key, index): [string, unknown] => [key, parts[index]?.value]);
    return joined(is, now, parts, () => Object.fromEntries(entries().filter(([, value]) => value !== undefined)));
  }
  const [old, mine, theirs] = [was, is, now].map((one) => JSON.stringify(one));
  const same = { mine: mine === old, theirs: theirs === old, alike: mine === theirs };
  return { ...same, value: same.mine ? now : same.theirs || same.alike ? is : APART };
}

function joined(is: unknown, now: unknown, parts: readonly Merged[], whole: () => unknown): Merged {
  const [mine, theirs, alike] = (["mine", "theirs", "alike"] as const).map((side) => parts.every((part) => part[side]));
  const same = { mine: mine === true, theirs: theirs === true, alike: alike === true };
  if (same.mine || same.theirs || same.alike) return { ...same, value: same.mine ? now : is };
  return { ...same, value: parts.some(({ value }) => value === APART) ? APART : whole() };
}
