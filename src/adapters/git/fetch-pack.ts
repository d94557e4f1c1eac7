/**
 * Fetches over HTTP what a remote has and this repository lacks, by `fetch` of git's second protocol: one request, and one process that unpacks,
 * where `git fetch` starts seven. For small steps on top of what is here; whatever is not that, or not answered so, is git's.
 */
import { KNOWN_FLAWS } from "./git-env.ts";
import { pipeGit } from "./git-process.ts";
import { countAsCommand } from "./launch/launcher.ts";
import type { Repository } from "./run-git.ts";
import { askUploadPack, type UploadPack } from "./upload-pack.ts";

interface Wanted {
  /** Commits of the remote. */
  wants: readonly string[];
  /** Commits that are here with all that they need. */
  haves: readonly string[];
  /** What is left out, as git's filters spell it. */
  filter?: string | undefined;
  /** Not all that comes along with what is here need be here. */
  partial?: boolean | undefined;
}

/** Of more objects a pack is kept as it is. git's own bound. */
const FEW_OBJECTS = 100;

/** False: the remote did not answer so. Rejects where what it sent is no whole pack, or is refused by git's checks. */
export async function fetchPack(
  remote: UploadPack,
  repository: Repository,
  { wants, haves, filter, partial = false }: Wanted,
): Promise<boolean> {
  const lines = ["thin-pack\n", "ofs-delta\n", "no-progress\n"];
  if (filter !== undefined) lines.push(`filter ${filter}\n`);
  for (const want of new Set(wants)) lines.push(`want ${want}\n`);
  for (const have of haves) lines.push(`have ${have}\n`);
  const answer = await countAsCommand(askUploadPack(remote, "fetch", [...lines, "done\n"]));
  const pack = answer === undefined ? undefined : packIn(answer);
  if (pack === undefined) return false;
  await pipeGit(repository, partial ? PARTIAL : unpacking(pack.readUInt32BE(8)), [pack]);
  return true;
}

/** Checks every object, and notes that what they name and is not here is the remote's. */
const PARTIAL = ["index-pack", "--stdin", "--fix-thin", "--fsck-objects", "--promisor"];

/** Both check every object, and that all they name is there. */
function unpacking(objects: number): string[] {
  const strict = `--strict=${KNOWN_FLAWS.map((flaw) => `${flaw.toLowerCase()}=warn`).join(",")}`;
  return objects < FEW_OBJECTS ? ["unpack-objects", "-q", strict] : ["index-pack", "--stdin", "--fix-thin", strict];
}

/** Behind a line that announces it the pack comes in pieces, between words for people. undefined: it does not, or not all of it. */
function packIn(answer: Buffer): Buffer | undefined {
  const pieces: Buffer[] = [];
  let announced = false;
  for (let at = 0; at + 4 <= answer.length; ) {
    const length = Number.parseInt(answer.toString("latin1", at, at + 4), 16);
    if (length === 0) {
      const pack = Buffer.concat(pieces);
      return at + 4 === answer.length && pack.length > 12 && pack.toString("latin1", 0, 4) === "PACK" ? pack : undefined;
    }
    if (!(length > 4) || at + length > answer.length) return undefined;
    const line = answer.subarray(at + 4, at + length);
    if (!announced && line.toString("latin1") !== "packfile\n") return undefined;
    if (announced && line[0] === 1) pieces.push(line.subarray(1));
    // 2: words of its progress. Anything else says that it failed.
    else if (announced && line[0] !== 2) return undefined;
    announced = true;
    at += length;
  }
  return undefined;
}
