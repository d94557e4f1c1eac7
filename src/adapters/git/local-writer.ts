import { defined } from "../../core/base/defined.ts";
import type { CommitFault } from "../../core/reasons/journal.ts";
import type { CommitJudge, CommitWriter, Mirror } from "./port.ts";
import { signedParts } from "./signing/commit-signature.ts";
import { publicKeyBlob, type SigningKey } from "./signing/ssh-key.ts";
import { signPayload, whyNotSigned } from "./signing/ssh-signature.ts";

interface LocalWriterOptions {
  mirror: Pick<Mirror, "commit" | "push">;
  author: { name: string; email: string };
  /** Without it commits are unsigned: for hosts where nothing else is set up. */
  key?: SigningKey;
}

/** Builds commits in the mirror and pushes them. The same input gives the same commit, signed with Ed25519 or RSA too. */
export function openLocalWriter({ mirror, author, key }: LocalWriterOptions): CommitWriter {
  return {
    kind: key === undefined ? "unsigned" : "ssh",
    async write({ branch, head, from, changes, message, at }) {
      const sign = key === undefined ? undefined : (payload: Buffer) => signPayload(key, payload);
      const commit = await mirror.commit({ parent: head ?? from, changes, message, author, at, ...defined({ sign }) });
      const pushed = await mirror.push([{ ref: `refs/heads/${branch}`, old: head, new: commit }]);
      return pushed === "ok" ? { kind: "written", commit } : { kind: "stale" };
    },
  };
}

/** Ours is what one of these keys has signed. `keys` as in `.pub` files; the old one stays in the list while keys change. */
export function sshJudge(mirror: Pick<Mirror, "commitObject">, keys: readonly string[]): CommitJudge {
  const blobs = keys.map(publicKeyBlob);
  return {
    async foreign(commits) {
      const found = new Map<string, CommitFault>();
      for (const { sha } of commits) {
        const object = await mirror.commitObject(sha);
        const parts = object === undefined ? undefined : signedParts(object);
        const why = parts === undefined ? ({ code: "NOT_SIGNED" } as const) : whyNotSigned(parts.signature, parts.payload, blobs);
        if (why !== undefined) found.set(sha, why);
      }
      return found;
    },
  };
}
