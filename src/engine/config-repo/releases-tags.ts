import semver from "semver";
import type { Mirror } from "../../adapters/git/port.ts";
import { compareText } from "../../core/base/compare-text.ts";
import type { ReleaseSpec } from "../../core/spec/rollout.ts";
import type { RemoteHeads } from "./remote-heads.ts";

/** A tag of the config repo that a release may be. */
interface FoundTag {
  name: string;
  /** The version in its name, as semver spells it. */
  version: string;
  commit: string;
}

export type TagSpec = Extract<ReleaseSpec, { kind: "tag" }>;

const TAGS = "refs/tags/";

/** Tag → commit, asked for as often as the heads of the remote are: an event, or a minute, later. */
export type TagsOf = () => Promise<ReadonlyMap<string, string>>;

export function openTags(mirror: Mirror, remote: RemoteHeads): TagsOf {
  let kept: { reading: number; tags: ReadonlyMap<string, string> } | undefined;
  return async () => {
    const { reading } = remote.last;
    if (kept?.reading === reading) return kept.tags;
    const refs = await mirror.remoteBelow([TAGS]);
    kept = { reading, tags: new Map([...refs].map(([ref, commit]) => [ref.slice(TAGS.length), commit])) };
    return kept.tags;
  };
}

/** The version in a tag's name, where the name is of this rollout: prefix and version, or version with or without `v`. */
export function versionOfTag(name: string, prefix: string | undefined): string | undefined {
  if (name.length > 200) return undefined;
  if (prefix !== undefined && !name.startsWith(prefix)) return undefined;
  const text = prefix === undefined ? name : name.slice(prefix.length);
  return /^v?\d+\.\d+\.\d+/.test(text) ? (semver.parse(text)?.version ?? undefined) : undefined;
}

/** The newest tag in the range; of two names for one version the one that sorts first. Prereleases only where the range names one. */
export function newestTag(tags: ReadonlyMap<string, string>, { range, prefix }: Pick<TagSpec, "range" | "prefix">): FoundTag | undefined {
  let newest: FoundTag | undefined;
  for (const [name, commit] of [...tags].sort(([a], [b]) => compareText(a, b))) {
    const version = versionOfTag(name, prefix);
    if (version === undefined || !semver.satisfies(version, range)) continue;
    if (newest === undefined || semver.gt(version, newest.version)) newest = { name, version, commit };
  }
  return newest;
}

/**
 * Whether a tag is a release after this one: a newer version, or any where the last one is not in the range (any more). A tag
 * that was deleted or moved so starts nothing.
 */
export function isNewer(tag: FoundTag, last: string | undefined, { range, prefix }: Pick<TagSpec, "range" | "prefix">): boolean {
  if (last === tag.name) return false;
  const before = last === undefined ? undefined : versionOfTag(last, prefix);
  if (before === undefined || !semver.satisfies(before, range)) return true;
  return semver.gt(tag.version, before);
}
