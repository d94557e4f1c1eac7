/**
 * Which rollouts a journal and the clone around it know: what is asked of another one most likely was mistyped, and the only one needs no name. Called by
 * `source.ts` and the commands on the journal.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Index } from "../../../adapters/git/journal/index-file.ts";
import type { GitReader } from "../../../adapters/git/reader.ts";
import { isRecord } from "../../../core/base/is-record.ts";
import { readManifests } from "../../../core/base/yaml-read.ts";
import { like } from "../args.ts";
import { CommandError } from "../command.ts";
import { visible } from "../print.ts";

/** A journal, and what is around it. */
interface Surroundings {
  /** undefined: there is no journal. */
  known(): Promise<Index | undefined>;
  /** What to say where it has none. */
  noJournal(): string;
  /** Where the clone is; undefined: none is there. */
  checkout: string | undefined;
  reader: GitReader;
  /** The remote's default branch, as it is there now; undefined: it could not be asked. */
  fetchBase(): Promise<string | undefined>;
}

/** The rollout's entry; CommandError 1 where it has no run yet, naming the one that was meant, or those there are. */
export async function entryOf(around: Surroundings, name: string): Promise<{ lastRun: number }> {
  const index = await around.known();
  const entry = index?.rollouts.get(name);
  if (entry !== undefined && entry.lastRun > 0) return entry;
  const declared = (await declaredIn(around.checkout)) ?? [];
  if (entry === undefined && !declared.includes(name)) throw unknown(around, name, 1, [...(index?.rollouts.keys() ?? []), ...declared]);
  throw new CommandError(1, visible(`${name} has no run yet: the first begins when a release of it is merged`));
}

/**
 * Throws CommandError 2 for what would be waited for in vain: neither the journal nor `rollouts/` has the rollout, of the clone or of the
 * remote, which may be ahead. Without a clone, or an answer, one that is like no other is waited for where `release` is given.
 */
export async function refuseUnknown(around: Surroundings, name: string, release: string | undefined): Promise<void> {
  const index = await around.known();
  if (index?.rollouts.has(name) === true) return;
  const declared = await declaredIn(around.checkout);
  if (declared?.includes(name) === true) return;
  const base = declared === undefined ? undefined : await around.fetchBase();
  // A file may be too large, or left out of the clone: then it is not known which there are.
  const newer = base === undefined ? undefined : await declaredAt(around.reader, base).catch(() => undefined);
  if (newer?.includes(name) === true) return;
  const names = [...(index?.rollouts.keys() ?? []), ...(declared ?? []), ...(newer ?? [])];
  if (newer === undefined && release !== undefined && like(name, names) === "") return;
  throw unknown(around, name, 2, names);
}

/** The rollout that is meant where none is named: the only one. CommandError 2 where there are several, with their names. */
export async function onlyRollout(around: Surroundings): Promise<string> {
  const inJournal = [...((await around.known())?.rollouts.keys() ?? [])];
  const names = inJournal.length > 0 ? inJournal : [...new Set((await declaredIn(around.checkout)) ?? [])];
  const [only, second] = names;
  if (only === undefined) throw new CommandError(1, around.noJournal());
  if (second === undefined) return only;
  throw new CommandError(2, visible(`name the rollout; there are ${named(names)}`));
}

function named(names: readonly string[]): string {
  return names.length > 10 ? `${names.slice(0, 10).join(", ")} and ${names.length - 10} more` : names.join(", ");
}

function unknown(around: Surroundings, name: string, exitCode: 1 | 2, known: readonly string[]): CommandError {
  const names = [...new Set(known)];
  const verb = names.length === 1 ? "is" : "are";
  const there = names.length > 0 ? `there ${verb} ${named(names)}` : around.noJournal();
  return new CommandError(exitCode, visible(`there is no rollout "${name}"${like(name, names)}; ${there}`));
}

/** Names in the files of a work tree, whatever else is wrong with these; undefined: there is no work tree. */
async function declaredIn(repo: string | undefined): Promise<string[] | undefined> {
  if (repo === undefined) return undefined;
  const { openCheckout, repoAround } = await import("../lint/lint-checkout.ts");
  const root = repoAround(repo);
  if (!existsSync(join(root, ".git"))) return undefined;
  const { declaredRollouts } = await import("../lint/lint-run.ts");
  return declaredRollouts(openCheckout(root));
}

/** The same at a commit. */
async function declaredAt(reader: GitReader, commit: string): Promise<string[]> {
  const { isRolloutFile, ROLLOUTS_FOLDER } = await import("../../../engine/config-repo/project.ts");
  const files = (await reader.listFiles(commit, ROLLOUTS_FOLDER)).filter(isRolloutFile);
  const texts = [...(await reader.readFiles(commit, files)).values()];
  return texts.flatMap((text) =>
    readManifests(text ?? "").flatMap(({ metadata }) =>
      isRecord(metadata) && typeof metadata["name"] === "string" ? metadata["name"] : [],
    ),
  );
}
