/** The journal of a repository as the server keeps it: who signs and seals it, who may accept what others wrote to it, and what it is held by. */
import type { ProbotOctokit } from "probot";
import { openGitHubAnchor } from "../../../adapters/forge/github/anchor.ts";
import { tracesOf } from "../../../adapters/forge/github/index.ts";
import { acceptors } from "../../../adapters/forge/github/people.ts";
import type { Forge } from "../../../adapters/forge/port.ts";
import { JOURNAL_BRANCH, openJournal } from "../../../adapters/git/journal/journal.ts";
import type { Journal } from "../../../adapters/git/journal/port.ts";
import { openSeal, type SealKeys } from "../../../adapters/git/journal/seal.ts";
import type { CommitWriter, Mirror } from "../../../adapters/git/port.ts";
import type { InstalledRepo } from "./installed-repos.ts";

interface JournalParts {
  octokit: ProbotOctokit;
  forge: Forge;
  mirror: Mirror;
  login: string;
  writer: CommitWriter | undefined;
  keep: () => number | undefined;
}

export function openRepoJournal(
  { id, fullName, baseBranch }: InstalledRepo,
  { sealKeys }: { sealKeys: SealKeys },
  parts: JournalParts,
): Journal {
  const { octokit, forge, mirror, login, writer, keep } = parts;
  return openJournal({
    mirror,
    app: login,
    writer,
    seal: openSeal(sealKeys, String(id)),
    mayAccept: acceptors({ octokit, repository: fullName, branch: JOURNAL_BRANCH, permission: (who) => forge.permission(who) }),
    traces: () => tracesOf(forge),
    anchor: openGitHubAnchor({
      octokit,
      repository: fullName,
      appId: async () => forge.appId?.(),
      async commits() {
        const base = await mirror.head(baseBranch);
        const first = base === undefined ? undefined : await mirror.rootOf(base);
        if (base === undefined || first === undefined) return undefined;
        return [first, ...((await mirror.rootsOf(base)) ?? []).filter((root) => root !== first)];
      },
    }),
    keep,
  });
}
