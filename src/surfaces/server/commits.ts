import { openGitHubWriter } from "../../adapters/forge/github/commit-writer.ts";
import type { OctokitLike } from "../../adapters/forge/github/octokit.ts";
import { gitHubJudge } from "../../adapters/forge/github/people.ts";
import type { Forge } from "../../adapters/forge/port.ts";
import { openLocalWriter, sshJudge } from "../../adapters/git/local-writer.ts";
import type { CommitJudge, CommitWriter, Mirror } from "../../adapters/git/port.ts";
import { readSigningKey, type SigningKey } from "../../adapters/git/signing/ssh-key.ts";
import type { ServerConfig } from "./config/schema.ts";
import { readSettingFile, underSetting } from "./config/setting-errors.ts";

/** Who makes and signs the commits of batches and of the journal, and so whose commits in the journal are ours. */
export type CommitSigning = { kind: "github" } | { kind: "ssh"; key: SigningKey; trustedKeys: readonly string[] } | { kind: "none" };

interface CommitsOptions {
  octokit: OctokitLike;
  forge: Forge;
  mirror: Mirror;
  /** Ours. */
  login: string;
  author: { name: string; email: string };
}

/** What to write commits with, and what to judge the journal's by; nothing for `none`: they are then unsigned and trusted by name. */
export function commitsOf(signing: CommitSigning, options: CommitsOptions): { writer?: CommitWriter; judge?: CommitJudge } {
  const { octokit, forge, mirror, login, author } = options;
  const { repository } = forge;
  if (signing.kind === "none") return {};
  if (signing.kind === "ssh") {
    const keys = [signing.key.publicKey, ...signing.trustedKeys];
    return { writer: openLocalWriter({ mirror, author, key: signing.key }), judge: sshJudge(mirror, keys) };
  }
  return {
    writer: openGitHubWriter({
      octokit,
      repository,
      modes: (commit, paths) => mirror.modes(commit, paths),
      fetch: (branch) => mirror.fetch([branch]),
    }),
    judge: gitHubJudge({ octokit, repository, app: login, permission: (who) => forge.permission(who) }),
  };
}

/** Reads who signs commits. Throws SettingError where the key cannot be read. */
export function signingOf({ signing, sshKeyFile = "", trustedKeys }: ServerConfig["commits"]): CommitSigning {
  if (signing !== "ssh") return { kind: signing };
  const text = readSettingFile("commits.sshKeyFile", sshKeyFile);
  return underSetting("commits.sshKeyFile", () => ({ kind: "ssh", key: readSigningKey(text), trustedKeys }));
}
