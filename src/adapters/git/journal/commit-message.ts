/** The messages of the journal's commits: a sentence, and trailers that say what it is about and that it is ours. */
import { defined } from "../../../core/base/defined.ts";
import { GitError } from "../port.ts";
import { parseTrailers } from "../signing/commit-object.ts";
import { APP_TRAILER, RUN_TRAILER } from "./check.ts";
import type { JournalChange } from "./port.ts";
import { runName } from "./run-paths.ts";
import { SEAL_TRAILER, type Seal } from "./seal.ts";

export function trailersOf(change: JournalChange, app: string): Record<string, string> {
  const names = change.runs.map((run) => runName(run.rollout, run.number)).join(", ");
  return defined({ ...change.trailers, [RUN_TRAILER]: names === "" ? undefined : names, [APP_TRAILER]: app });
}

/** The message of a commit of ours, with the seal of that commit in it. */
export function sealedMessage(
  seal: Seal,
  commit: { sequence: number; parent: string | undefined; tree: string },
  subject: string,
  trailers: Readonly<Record<string, string>>,
): string {
  const said = parseTrailers(journalMessage(subject, trailers));
  const stamp = seal.stamp(commit.sequence, { parent: commit.parent, tree: commit.tree, trailers: said });
  return journalMessage(subject, { ...trailers, [SEAL_TRAILER]: stamp });
}

/** The last trailer keeps other CI systems away: the message ends in `[skip ci]`, and its last paragraph is trailers only. */
export function journalMessage(subject: string, trailers: Readonly<Record<string, string>>): string {
  const lines: string[] = [];
  for (const [key, value] of Object.entries(trailers)) {
    if (!/^[A-Za-z][A-Za-z0-9-]*$/.test(key)) throw new GitError("Invalid", `"${key}" is no name for a trailer`);
    lines.push(`${key}: ${oneLine(value)}`);
  }
  return `${oneLine(subject)}\n\n${[...lines, "Stagecoach-CI: [skip ci]"].join("\n")}\n`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
