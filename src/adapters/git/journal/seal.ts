/**
 * The seal of the journal: who has the key wrote a commit, for this repository, at this place of its history. A signature of GitHub's says
 * less, for GitHub signs for everybody who merges a pull request.
 *
 * A seal binds what lies below: its parent is part of it, and it is only ever made on top of what was found to be ours.
 */
import { createHash, createHmac, createPrivateKey, hkdfSync, timingSafeEqual } from "node:crypto";
import type { SealFault } from "../../../core/reasons/journal.ts";
import { GitError } from "../port.ts";

export const SEAL_TRAILER = "Stagecoach-Seal";

/** The first one seals; by any of them a seal holds, so that keys can change. */
export type SealKeys = readonly [SealKey, ...SealKey[]];

interface SealKey {
  id: string;
  secret: Buffer;
}

/** What a seal is of. `trailers`: of the commit's message, as far as they are ours. */
interface Sealed {
  parent: string | undefined;
  tree: string;
  trailers: Readonly<Record<string, string>>;
}

export interface Seal {
  /** The trailer's value for a commit that is to be made. */
  stamp(sequence: number, commit: Sealed): string;
  /** The sequence number that was sealed, or why it is not sealed by us. */
  check(commit: Sealed): { sequence: number } | { fault: SealFault };
}

const LEAST_SECRET = 32;
const VERSION = "v1";
const FORM = /^v1\.([0-9a-f]{8})\.([1-9]\d{0,14})\.([\w-]{43})$/;

/** A key from a secret of one's own, or from a private key (PEM), whatever way that is written. Throws GitError `Invalid`. */
export function sealKey(text: string): SealKey {
  return derivedKey(text, "stagecoach journal seal");
}

/** One for another purpose: who has it does not have the others of the same text. */
export function derivedKey(text: string, purpose: string): SealKey {
  const secret = Buffer.from(hkdfSync("sha256", bytesOf(text.trim()), "", purpose, 32));
  return { id: createHash("sha256").update("key id").update(secret).digest("hex").slice(0, 8), secret };
}

function bytesOf(given: string): Buffer {
  if (!given.includes("PRIVATE KEY-----")) {
    if (given.length < LEAST_SECRET)
      throw new GitError("Invalid", `a secret for a key has at least ${LEAST_SECRET} characters: openssl rand -hex 32 makes one`);
    return Buffer.from(given);
  }
  try {
    return createPrivateKey(given.replaceAll("\\n", "\n")).export({ type: "pkcs8", format: "der" });
  } catch {
    throw new GitError("Invalid", "the private key that a key is derived from cannot be read");
  }
}

/** `repository`: what names it for good, whatever it is called: its id. */
export function openSeal(keys: SealKeys, repository: string): Seal {
  const mac = ({ secret }: SealKey, sequence: number, { parent, tree, trailers }: Sealed): Buffer => {
    const said = Object.entries(trailers).filter(([name]) => name.startsWith("Stagecoach-") && name !== SEAL_TRAILER);
    const all = [VERSION, repository, sequence, parent ?? "none", tree, said.sort(([a], [b]) => (a < b ? -1 : 1))];
    return createHmac("sha256", secret).update(JSON.stringify(all)).digest();
  };
  return {
    stamp(sequence, commit) {
      const [key] = keys;
      return [VERSION, key.id, sequence, mac(key, sequence, commit).toString("base64url")].join(".");
    },
    check(commit) {
      const stamped = commit.trailers[SEAL_TRAILER];
      if (stamped === undefined) return { fault: { code: "NOT_SEALED" } };
      const [has = ""] = /^v([2-9]|[1-9]\d{1,3})(?=\.)/.exec(stamped) ?? [];
      if (has !== "") return { fault: { code: "SEAL_NEWER", has } };
      const [, id = "", number = "", given = ""] = FORM.exec(stamped) ?? [];
      const key = keys.find((one) => one.id === id);
      if (key === undefined) return { fault: { code: "SEAL_OF_OTHER_KEY", key: id } };
      const sequence = Number(number);
      const made = mac(key, sequence, commit);
      const shown = Buffer.from(given, "base64url");
      return shown.length === made.length && timingSafeEqual(shown, made) ? { sequence } : { fault: { code: "SEAL_BROKEN" } };
    },
  };
}
