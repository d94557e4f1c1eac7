import type { TestGitHub } from "../../../../sim/github/testing/setup.ts";
import { JOURNAL_BRANCH, openJournal } from "../../../git/journal/journal.ts";
import { openSeal, sealKey } from "../../../git/journal/seal.ts";
import { openMirror } from "../../../git/mirror.ts";
import { openGitHubWriter } from "../commit-writer.ts";
import { acceptors } from "../people.ts";
import { watchedForge } from "./forge.ts";

/** The journal of a test's repository as the bot opens it: written and judged through GitHub. */
export async function openGitHubJournal(github: TestGitHub, directory: string) {
  const { octokit, forge } = watchedForge(github);
  const { cloneUrl } = await forge.repo();
  const { login: app } = await forge.identity();
  const mirror = await openMirror({ directory, url: cloneUrl, credentials: () => forge.gitCredentials() });
  const fetch = (branch: string) => mirror.fetch([branch]);
  const writer = openGitHubWriter({ octokit, repository: github.repository, modes: mirror.modes, fetch });
  const { data } = await octokit.rest.repos.get(github.place);
  const seal = openSeal([sealKey(github.sim.app.privateKey)], String(data.id));
  const mayAccept = acceptors({ octokit, repository: github.repository, branch: JOURNAL_BRANCH, permission: forge.permission });
  return { journal: openJournal({ mirror, app, seal, writer, mayAccept }), mirror, close: () => mirror.close() };
}
