/** The inside of the server's cell: `open.ts` starts it as a process of its own. */
import { serveCell } from "../../../adapters/cell/inside.ts";
import type { Ask } from "../../../adapters/cell/port.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import { readYamlDocuments } from "../../../core/base/yaml-read.ts";
import { readClusters } from "../../../engine/config-repo/inventory.ts";
import { type ApartRollouts, readRollouts } from "../../../engine/config-repo/project.ts";
import { type ApartInput, READ_APART } from "../../../engine/config-repo/read-in-cell.ts";
import { type ApartRender, renderNoting } from "../../../engine/config-repo/render-set.ts";
import { openSnapshot, type SyncFiles } from "../../../engine/config-repo/snapshot.ts";
import { PROPOSE, type ProposeInput, proposeTried } from "../../../engine/onboarding/propose-tried.ts";
import { type JudgeInput, judgeInside } from "../../../engine/release-pr/inside-cell.ts";
import { JUDGE_PULL } from "../../../engine/release-pr/judge-in-cell.ts";
import { foreseeAll } from "../../../simulate/plan/foresee.ts";

/** Works by name: on a text, with what else is told, over files that are asked for. */
const WORKS: Readonly<Record<string, (text: string, rest: unknown, files: SyncFiles) => unknown>> = {
  documents: (text) => readYamlDocuments(text),
  rollouts: (text, rest) => readRollouts(text, rest as ApartRollouts),
  inventory: (text, file) => readClusters(text, file as string),
  render: (_, rest, files) => renderNoting(rest as ApartRender, files),
  [PROPOSE]: (_, rest, files) => proposeTried(rest as ProposeInput, files, foreseeAll),
};

await serveCell({
  [JUDGE_PULL]: (input, ask) => judgeInside(input as JudgeInput, ask),
  [READ_APART]: (input, ask) => readApart(input as ApartInput, ask),
});

/** Does pieces of work that a pass over a snapshot left to others; a result each. */
async function readApart({ work, id, text, rests }: ApartInput, ask: Ask): Promise<unknown[]> {
  const mirror = {
    readFiles: async (_: string, paths: string[]) => ask("files.read", paths),
    listFiles: async () => ask("files.paths"),
  } as unknown as Mirror;
  const done = Object.hasOwn(WORKS, work) ? WORKS[work] : undefined;
  if (done === undefined) throw new Error(`no work is called ${work}`);
  const snapshot = openSnapshot(mirror, id);
  const results: unknown[] = [];
  for (const rest of rests) results.push(await snapshot.with((files) => done(text, rest, files)));
  return results;
}
