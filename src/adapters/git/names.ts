import { hasControl, isRefName } from "../../core/base/ref-name.ts";
import { GitError } from "./port.ts";

/** What may reach git's command line or a tree: checked here first, so that no name from outside is ever read as an option or a path elsewhere. */

/** What a file system takes. */
const LONGEST_PATH = 4096;
const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** The id as given, where it is a full object id in hex; else GitError `Invalid`. */
export function objectId(text: string): string {
  if (OBJECT_ID.test(text)) return text;
  throw new GitError("Invalid", `"${printable(text)}" is no full object id; branch names and short ids are not taken here`);
}

/** Returns the full name `refs/heads/…` of a branch; GitError `Invalid` where git would refuse it. */
export function branchRef(branch: string): string {
  return fullRef(`refs/heads/${branch}`);
}

/** Returns a full ref name (`refs/…`) as given, where git would accept it; else throws GitError `Invalid`. */
export function fullRef(ref: string): string {
  if (isRefName(ref)) return ref;
  throw new GitError("Invalid", `"${printable(ref)}" is no ref name git accepts`);
}

/** A path inside the repository, `/`-separated, as given; refuses absolute paths, `..`, `.` and every spelling of `.git`. */
export function repositoryPath(path: string): string {
  if (path.length > LONGEST_PATH) throw new GitError("Invalid", `"${printable(path)}" is longer than any path`);
  if (path === "") throw new GitError("Invalid", "an empty path names no file");
  if (path.startsWith("/")) throw new GitError("Invalid", `"${printable(path)}" is absolute; paths are relative to the repository's root`);
  if (hasControl(path)) throw new GitError("Invalid", `"${printable(path)}" has a control character in it`);
  for (const part of path.split("/")) {
    if (part === "" || part === "." || part === "..") {
      throw new GitError("Invalid", `"${printable(path)}" has the part "${part}", which could leave the repository`);
    }
    if (isDotGit(part)) throw new GitError("Invalid", `"${printable(path)}" points into .git`);
  }
  return path;
}

/** Also `git~1`, trailing dots and spaces, and code points that HFS+ ignores: each is `.git` on some file system. */
function isDotGit(part: string): boolean {
  const plain = part.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "").toLowerCase();
  return /^(?:\.git|git~\d+)[ .]*(?::.*)?$/.test(plain);
}

function printable(text: string): string {
  return JSON.stringify(text.slice(0, 200)).slice(1, -1);
}

/** The remote's URL as given. Only http, https and, with `allowFile`, file and absolute paths; never with a password in it. */
export function remoteUrl(url: string, allowFile: boolean): string {
  if (url.startsWith("/") || url.startsWith("file://")) {
    if (allowFile) return url;
    throw new GitError("Invalid", `the remote ${printable(url)} is a local path; pass allowFile where that is meant`);
  }
  const parsed = URL.parse(url);
  if (parsed === null || !["http:", "https:"].includes(parsed.protocol)) {
    throw new GitError("Invalid", `the remote "${printable(url)}" is neither http nor https`);
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw new GitError("Invalid", `the remote at ${parsed.host} carries credentials in its URL; give them as credentials instead`);
  }
  return url;
}
