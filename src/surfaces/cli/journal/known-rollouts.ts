/** Which rollouts a journal and the clone around it know. Called by `wait` and `status`, which would wait for a mistyped one for ever. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { like } from "../args.ts";
import { CommandError } from "../command.ts";
import { visible } from "../print.ts";
import { noJournal } from "./fetch.ts";
import type { JournalSource } from "./source.ts";

/**
 * Throws CommandError 2 where neither the journal nor `rollouts/` of the clone has the rollout. Without a clone a rollout whose
 * release was just merged may be unknown to the journal yet, so one that is like no other is waited for where `release` is given.
 */
export async function refuseUnknown(source: JournalSource, name: string, release: string | undefined): Promise<void> {
  const index = await source.known();
  if (index?.rollouts.has(name) === true) return;
  const declared = await declaredIn(source.checkout);
  if (declared?.includes(name) === true) return;
  const names = [...new Set([...(index?.rollouts.keys() ?? []), ...(declared ?? [])])];
  const meant = like(name, names);
  if (declared === undefined && release !== undefined && meant === "") return;
  const there = names.length > 0 ? `there are ${names.slice(0, 10).join(", ")}` : undefined;
  const none = there ?? (source.checkout === undefined ? "the journal has none yet" : noJournal(source.checkout, source.branch, undefined));
  throw new CommandError(2, visible(`there is no rollout "${name}"${meant}; ${none}`));
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
