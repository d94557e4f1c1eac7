/** The inside of a cell that reads and renders what is merged: the same functions, over files that it asks for. */
import type { Ask } from "../../adapters/cell/port.ts";
import type { Mirror } from "../../adapters/git/port.ts";
import { readYamlDocuments } from "../../core/base/yaml-read.ts";
import { readClusters } from "./inventory.ts";
import { type ApartRollouts, readRollouts } from "./project.ts";
import type { ApartInput } from "./read-in-cell.ts";
import { type ApartRender, renderNoting } from "./render-set.ts";
import { openSnapshot, type SyncFiles } from "./snapshot.ts";

/** Works by name: on a text, with what else is told, over files that are asked for. */
type Works = Readonly<Record<string, (text: string, rest: unknown, files: SyncFiles) => unknown>>;

/** Those that reading a repository's base takes. */
export const READING: Works = {
  documents: (text) => readYamlDocuments(text),
  rollouts: (text, rest) => readRollouts(text, rest as ApartRollouts),
  inventory: (text, file) => readClusters(text, file as string),
  render: (_, rest, files) => renderNoting(rest as ApartRender, files),
};

/** Does pieces of work that a pass over a snapshot left to others; a result each. */
export async function readApart(works: Works, { work, id, text, rests }: ApartInput, ask: Ask): Promise<unknown[]> {
  const mirror = {
    readFiles: async (_: string, paths: string[]) => ask("files.read", paths),
    listFiles: async () => ask("files.paths"),
  } as unknown as Mirror;
  const done = Object.hasOwn(works, work) ? works[work] : undefined;
  if (done === undefined) throw new Error(`no work is called ${work}`);
  const snapshot = openSnapshot(mirror, id);
  const results: unknown[] = [];
  for (const rest of rests) results.push(await snapshot.with((files) => done(text, rest, files)));
  return results;
}
