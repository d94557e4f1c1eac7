import { openGitHubWriter } from "../../adapters/forge/github/commit-writer.ts";
import type { OctokitLike } from "../../adapters/forge/github/octokit.ts";
import type { Forge } from "../../adapters/forge/port.ts";
import { type SealKeys, sealKey } from "../../adapters/git/journal/seal.ts";
import { openLocalWriter } from "../../adapters/git/local-writer.ts";
import type { CommitWriter, Mirror } from "../../adapters/git/port.ts";
import { readSigningKey, type SigningKey } from "../../adapters/git/signing/ssh-key.ts";
import type { Environment } from "./config/env.ts";
import type { ServerConfig } from "./config/schema.ts";
import { readSecretFile, readSettingFile, underSetting } from "./config/setting-errors.ts";

/** Who makes and signs the commits of batches and of the journal. Whose a commit of the journal is, its seal says. */
export type CommitSigning = { kind: "github" } | { kind: "ssh"; key: SigningKey } | { kind: "none" };

interface CommitsOptions {
  octokit: OctokitLike;
  forge: Forge;
  mirror: Mirror;
  author: { name: string; email: string };
}

/** What to write commits with; undefined for `none`: they are then unsigned. */
export function writerOf(signing: CommitSigning, options: CommitsOptions): CommitWriter | undefined {
  const { octokit, forge, mirror, author } = options;
  const { repository } = forge;
  if (signing.kind === "none") return undefined;
  if (signing.kind === "ssh") return openLocalWriter({ mirror, author, key: signing.key });
  return openGitHubWriter({
    octokit,
    repository,
    modes: (commit, paths) => mirror.modes(commit, paths),
    fetch: (branch) => mirror.fetch([branch]),
  });
}

/** Reads who signs commits. Throws SettingError where the key cannot be read. */
export function signingOf({ signing, sshKeyFile = "" }: ServerConfig["commits"]): CommitSigning {
  if (signing !== "ssh") return { kind: signing };
  const text = readSettingFile("commits.sshKeyFile", sshKeyFile);
  return underSetting("commits.sshKeyFile", () => ({ kind: "ssh", key: readSigningKey(text) }));
}

/**
 * The keys of the journal's seal: one of the operator's own, or else one that is derived from the App's; and those of before, which hold
 * while keys change. Throws SettingError with a line for each that cannot be used.
 */
export function sealKeysOf({ sealKeyFile, acceptedKeyFiles }: ServerConfig["journal"], privateKey: string, env: Environment): SealKeys {
  const file = env["SEAL_KEY_FILE"] || sealKeyFile;
  const own = env["SEAL_KEY"]?.trim() || (file === undefined ? undefined : readSecretFile("journal.sealKeyFile", file));
  const first = underSetting("journal.sealKeyFile", () => sealKey(own ?? privateKey));
  const others = acceptedKeyFiles.map((name, i) => {
    const at = `journal.acceptedKeyFiles[${i}]`;
    return underSetting(at, () => sealKey(readSecretFile(at, name)));
  });
  return [first, ...others];
}
