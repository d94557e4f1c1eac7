/** Brings contents of files that a fetch has left out (`partial.ts`): those of one read in one go. Opened by `mirror.ts`. */
import { fetchPack } from "./fetch-pack.ts";
import { GitFailure, HostFailure } from "./git-errors.ts";
import { objectId } from "./names.ts";
import { fetchObjects, type Remote, talk } from "./remote.ts";

/** One request asks for so many. */
const MOST_AT_ONCE = 500;

/** Brings contents here by their ids, in as few requests as there can be. `bounded`: only as much as one answer may hold. */
type BringBlobs = (ids: readonly string[], options?: { bounded?: boolean }) => Promise<void>;

export function openBlobs(remote: Remote): BringBlobs {
  const { repository, url } = remote;
  /** Asked for already. */
  const coming = new Map<string, Promise<void>>();

  async function byPack(ids: readonly string[]): Promise<boolean> {
    return await talk(remote, { doing: "fetch files from", command: "fetch" }, async (credentials) => {
      try {
        return await fetchPack({ url, credentials, closing: repository.closing }, repository, { wants: ids, haves: [] });
      } catch (error) {
        if (error instanceof HostFailure || (error instanceof GitFailure && error.stderr.includes("fsck error"))) throw error;
        // Too long for one answer, or cut off.
        return false;
      }
    });
  }

  async function bringSome(ids: readonly string[], bounded: boolean): Promise<void> {
    const isHttp = url.startsWith("http") && ids[0]?.length === 40;
    if (isHttp && (await byPack(ids))) return;
    if (!isHttp || !bounded) return await fetchObjects(remote, ids);
    if (ids.length === 1) return;
    const half = Math.ceil(ids.length / 2);
    await bringSome(ids.slice(0, half), bounded);
    await bringSome(ids.slice(half), bounded);
  }

  return async (given, { bounded = false } = {}) => {
    const ids = [...new Set(given.map(objectId))];
    const fresh = ids.filter((id) => !coming.has(id));
    for (let at = 0; at < fresh.length; at += MOST_AT_ONCE) {
      const some = fresh.slice(at, at + MOST_AT_ONCE);
      const bringing = bringSome(some, bounded).finally(() => some.forEach((id) => void coming.delete(id)));
      bringing.catch(() => undefined);
      for (const id of some) coming.set(id, bringing);
    }
    await Promise.all(ids.map((id) => coming.get(id)));
  };
}
