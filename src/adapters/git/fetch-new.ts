/** Fetches what is new of a few refs without git's own fetch: see `fetch-pack.ts`. Opened by `mirror.ts`, which leaves to git what this does not take. */
import { BoundedMap } from "../../core/base/bounded.ts";
import { fetchPack } from "./fetch-pack.ts";
import { GitFailure, HostFailure } from "./git-errors.ts";
import { pipeGit } from "./git-process.ts";
import { lsRefs } from "./ls-refs.ts";
import { hasKnownFlaws, isPartial } from "./partial.ts";
import { type Remote, talk } from "./remote.ts";
import type { UploadPack } from "./upload-pack.ts";

/** Behind every so many fetches git keeps house, as it does behind its own. */
const GITS_OWN = 100;
/** Heads that were here with all that they need: a remote that is told of the newest finds what is missing. */
const MOST_KNOWN = 64;
/** What is new and no larger comes without being asked for: most of it is read. */
const SMALL = "blob:limit=1m";
const TAKEN = /^refs\/(heads|pull|tags)\/[^*]+$/;

/** False: it is git's to fetch, and nothing was changed. */
type FetchNew = (refs: readonly string[]) => Promise<boolean>;

export function openFetchNew(remote: Remote, refCommit: (ref: string) => Promise<string | undefined>): FetchNew {
  const { repository, url } = remote;
  const known = new BoundedMap<string, true>(MOST_KNOWN);
  let fetches = 0;
  /** What git's checks refused lies here all the same, and git's own fetch checks only what it has to bring. */
  let isRefused = false;
  /** The remote leaves out what it is told to. */
  let filters = true;

  async function look(refs: readonly string[]): Promise<{ before: Map<string, string | undefined>; haves: string[] }> {
    const before = new Map<string, string | undefined>();
    for (const ref of refs) before.set(ref, await refCommit(ref));
    for (const commit of before.values()) if (commit !== undefined) known.set(commit, true);
    return { before, haves: [...known.keys()] };
  }

  /** Small files come along. What is made of a file that is not here comes without any: those that are read are asked for by themselves. */
  async function bring(asked: UploadPack, wanted: { wants: readonly string[]; haves: readonly string[] }): Promise<boolean> {
    if (!filters || !(await isPartial(repository))) return await fetchPack(asked, repository, wanted);
    const partial = true;
    try {
      if (await fetchPack(asked, repository, { ...wanted, partial, filter: SMALL })) return true;
    } catch (error) {
      if (!(error instanceof GitFailure && error.stderr.includes("unresolved delta"))) throw error;
      return await fetchPack(asked, repository, { ...wanted, partial, filter: "blob:none" });
    }
    // A remote that leaves nothing out does not know the word.
    filters = !(await fetchPack(asked, repository, { ...wanted, partial }));
    return !filters;
  }

  return async (refs) => {
    if (!url.startsWith("http") || refs.length === 0 || refs.some((ref) => !TAKEN.test(ref))) return false;
    const { before, haves } = await look(refs);
    // Of a repository of which nothing is here all has to come.
    if (haves.length === 0 || haves[0]?.length !== 40 || (!isRefused && ++fetches % GITS_OWN === 0)) return false;
    return await talk(remote, { doing: "fetch from", command: "fetch" }, async (credentials) => {
      const asked = { url, credentials, closing: repository.closing };
      const there = await lsRefs({ ...asked, prefixes: refs });
      if (there === undefined) return false;
      const moved = refs.filter((ref) => there.get(ref) !== before.get(ref));
      // A tag may be an object of its own, which a listing passes over.
      if (moved.some((ref) => ref.startsWith("refs/tags/"))) return false;
      const wants = moved.flatMap((ref) => there.get(ref) ?? []);
      try {
        if (wants.length > 0 && !(await bring(asked, { wants, haves }))) return false;
        const lines = moved.map((ref) => (there.has(ref) ? `update ${ref} ${there.get(ref)}\n` : `delete ${ref}\n`));
        if (lines.length > 0) await pipeGit(repository, ["update-ref", "--stdin"], [lines.join("")]);
      } catch (error) {
        // What was thought to be here may not be. Of a host that cannot answer git is not asked as well; of all else it says what it is.
        known.clear();
        isRefused = error instanceof GitFailure && error.stderr.includes("fsck error") && !hasKnownFlaws(error);
        if (isRefused || error instanceof HostFailure) throw error;
        return false;
      }
      isRefused = false;
      for (const commit of wants) known.set(commit, true);
      return true;
    });
  };
}
