import type { TestGitHub } from "../../../../sim/github/testing/setup.ts";
import { openJournal } from "../../../git/journal/journal.ts";
import { openMirror } from "../../../git/mirror.ts";
import { openGitHubWriter } from "../commit-writer.ts";
import { gitHubJudge } from "../people.ts";
import { watchedForge } from "./forge.ts";

/** The journal of a test's repository as the bot opens it: written and judged through GitHub. */
export async function openGitHubJournal(github: TestGitHub, directory: string) {
  const { octokit, forge } = watchedForge(github);
  const { cloneUrl } = await forge.repo();
  const { login: app } = await forge.identity();
  const mirror = await openMirror({ directory, url: cloneUrl, credentials: () => forge.gitCredentials() });
  const fetch = (branch: string) => mirror.fetch([branch]);
  const writer = openGitHubWriter({ octokit, repository: github.repository, modes: mirror.modes, fetch });
  const judge = gitHubJudge({ octokit, repository: github.repository, app, permission: forge.permission });
  return { journal: openJournal({ mirror, app, writer, judge }), mirror, close: () => mirror.close() };
}
