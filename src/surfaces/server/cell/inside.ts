/** The inside of the server's cell: `open.ts` starts it as a process of its own. */
import { serveCell } from "../../../adapters/cell/inside.ts";
import { READING, readApart } from "../../../engine/config-repo/inside-cell.ts";
import { type ApartInput, READ_APART } from "../../../engine/config-repo/read-in-cell.ts";
import type { SyncFiles } from "../../../engine/config-repo/snapshot.ts";
import { PROPOSE, type ProposeInput, proposeTried } from "../../../engine/onboarding/propose-tried.ts";
import { type JudgeInput, judgeInside } from "../../../engine/release-pr/inside-cell.ts";
import { JUDGE_PULL } from "../../../engine/release-pr/judge-in-cell.ts";
import { foreseeAll } from "../../../simulate/plan/foresee.ts";

const WORKS = {
  ...READING,
  [PROPOSE]: (_: string, rest: unknown, files: SyncFiles) => proposeTried(rest as ProposeInput, files, foreseeAll),
};

await serveCell({
  [JUDGE_PULL]: (input, ask) => judgeInside(input as JudgeInput, ask),
  [READ_APART]: (input, ask) => readApart(WORKS, input as ApartInput, ask),
});
