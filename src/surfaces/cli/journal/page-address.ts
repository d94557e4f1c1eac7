/** Where the page shows a run, for whoever says in `STAGECOACH_URL` where the page is. */
import { pagesOf } from "../../../core/report/page-places.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { CommandError } from "../command.ts";
import { repositoryIn } from "../github-names.ts";
import { visible } from "../print.ts";
import { openGit } from "./checkout.ts";
import type { SourceOptions } from "./source.ts";

/** On standard error: what a command answers is the run. */
export async function tellPage({ repo, repository }: SourceOptions, run: Run): Promise<void> {
  const url = process.env["STAGECOACH_URL"];
  if (url === undefined || url === "") return;
  if (!URL.canParse(url) || !/^https?:\/\/[^'"<>\s]+$/.test(url))
    throw new CommandError(2, `STAGECOACH_URL is no address: ${visible(url)}; write it whole: https://stagecoach.example.com`);
  const found = repositoryIn(repository ?? (await remoteUrl(repo)));
  const page = found && pagesOf(url, `${found.owner}/${found.repo}`)(run);
  if (page !== undefined) process.stderr.write(visible(`See it live: ${page}\n`));
}

async function remoteUrl(repo: string): Promise<string> {
  const { git, remote } = openGit(repo);
  const name = await remote();
  return name === undefined ? "" : await git.raw(["remote", "get-url", name]).catch(() => "");
}
