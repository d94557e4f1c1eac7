/** The server's key, given to a command of the CLI: who has it can check the journal's seals, and make them. */
import type { Command } from "commander";
import { openSeal, type Seal, sealKey } from "../../../adapters/git/journal/seal.ts";
import { GitError } from "../../../adapters/git/port.ts";
import { readGiven } from "../args.ts";
import { CommandError } from "../command.ts";

export interface SealOptions {
  sealKey?: string;
  appKey?: string;
  repositoryId?: string;
}

export function withSealOptions(command: Command): Command {
  return command
    .option("--seal-key <file>", "the key of the journal's seal, where the server has one of its own")
    .option("--app-key <file>", "the App's private key (PEM), which the seal's key is derived from otherwise")
    .option("--repository-id <id>", "GitHub's id of the repository, which the seal names: gh api repos/OWNER/REPO --jq .id");
}

/** undefined: no key was given. */
export function sealOf({ sealKey: file, appKey, repositoryId }: SealOptions): Seal | undefined {
  const [option, from] = file === undefined ? ["--app-key", appKey] : ["--seal-key", file];
  if (from === undefined) return undefined;
  if (repositoryId === undefined) throw new CommandError(2, `${option} needs --repository-id, too: gh api repos/OWNER/REPO --jq .id`);
  return sealWith(option, from, repositoryId);
}

function sealWith(option: string, file: string, repositoryId: string): Seal {
  try {
    return openSeal([sealKey(readGiven(option, file))], repositoryId);
  } catch (error) {
    throw error instanceof GitError ? new CommandError(2, `${option}: ${error.message}`) : error;
  }
}
