/**
 * Asks a remote over HTTP which refs it has, by `ls-refs` of git's second protocol: no process, a connection that is kept, and the remote tells of
 * the refs that are asked for alone, where `git ls-remote` is told of all. Called by `remote.ts`, which asks git where this gives no answer.
 */
import { BoundedMap } from "../../core/base/bounded.ts";
import type { Credentials } from "./git-env.ts";
import { GitFailure } from "./git-errors.ts";
import { countAsCommand } from "./launch/launcher.ts";
import { askUploadPack } from "./upload-pack.ts";

interface Asked {
  /** Without credentials in it. */
  url: string;
  credentials: Credentials | undefined;
  /** Full refs, or how they begin. */
  prefixes: readonly string[];
  closing: AbortSignal;
}

/** A request of more would be a large one. */
const MOST_PREFIXES = 1000;

/** Who could not be asked so is left to git for so long: that may know a way, such as a proxy, which nobody told Node of, or take its time. */
const LEFT_TO_GIT_MS = 10 * 60_000;
/** Until when, by origin or by remote, of the clock that never jumps. */
const leftToGit = new BoundedMap<string, number>(1000);

/**
 * Commits by full name of refs that begin so, annotated tags resolved. undefined: this remote did not answer so, and git says why. Rejects with
 * GitFailure where its host cannot answer at all, or wants to be asked less: git would only be one that asks more.
 */
export async function lsRefs(asked: Asked): Promise<Map<string, string> | undefined> {
  if (!/^https?:/.test(asked.url) || asked.prefixes.length > MOST_PREFIXES) return undefined;
  const { origin } = new URL(asked.url);
  if ([origin, asked.url].some((one) => (leftToGit.get(one) ?? 0) > performance.now())) return undefined;
  return await countAsCommand(overHttp(asked)).catch((error: unknown) => {
    if (error instanceof GitFailure) throw error;
    // A TypeError is what fetch throws where it got no connection; else this remote alone is too slow, or has too many refs.
    if (!asked.closing.aborted) leftToGit.set(error instanceof TypeError ? origin : asked.url, performance.now() + LEFT_TO_GIT_MS);
    return undefined;
  });
}

async function overHttp({ url, credentials, prefixes, closing }: Asked): Promise<Map<string, string> | undefined> {
  const body = ["peel\n", ...prefixes.map((one) => `ref-prefix ${one}\n`)];
  const answer = await askUploadPack({ url, credentials, closing }, "ls-refs", body);
  return answer === undefined ? undefined : parseListing(answer);
}

const LINE = /^([0-9a-f]{40}|[0-9a-f]{64}) (refs\/\S+)((?: \S+)*)\n?$/;

/** A length of four digits before each line, and one that says it is whole. undefined: it is not, or says something else. */
function parseListing(body: Buffer): Map<string, string> | undefined {
  const refs = new Map<string, string>();
  let at = 0;
  while (at + 4 <= body.length) {
    const length = Number.parseInt(body.toString("latin1", at, at + 4), 16);
    if (length === 0) return at + 4 === body.length ? refs : undefined;
    const [, id, name, more = ""] = LINE.exec(body.toString("utf8", at + 4, at + length)) ?? [];
    if (!(length > 4) || at + length > body.length || id === undefined || name === undefined) return undefined;
    refs.set(name, /(?:^| )peeled:([0-9a-f]+)/.exec(more)?.[1] ?? id);
    at += length;
  }
  return undefined;
}
