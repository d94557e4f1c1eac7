/** Whoever draws a run draws its model: of the run itself they know only that it is one, and hand it on. */
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const SRC = new URL("../../", import.meta.url).pathname;

const DRAWING = [
  "core/report/{run,tree,batch}/*.ts",
  "core/report/{answers,refused,rollouts}.ts",
  "surfaces/web/page.ts",
  "surfaces/cli/journal/{list,history}.ts",
];

/** What these say stands in no model, and why. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "core/report/batch/batch-text.ts": "titles and messages as they are written to Git: what is changed, not how it stands",
  "core/report/batch/batch-pull.ts": "the diff: which line of which file is written",
  "core/report/batch/gate-check.ts": "the gate of a commit, which may be other than its batch's",
  "core/report/run/release-notice.ts": "releases that wait for a run or began one late",
};

/** As of when it is drawn. */
const TIMES = "endedAt|since";

/** Other parts of the run's state than the whole, and looks into it. */
function breachesOf(text: string): string[] {
  const imported = /^import (.*) from "[^"]*\/run\/(?:state|outcome|gates|batches|targets)\/[^"]*";$/gm;
  const all = [...text.matchAll(imported)].map(([, what = ""]) => what);
  if (all.length === 0) return [];
  const names = all.some((what) => /\bBatch\b/.test(what)) ? "run|batch" : "run";
  const looks = new RegExp(`(?<![./\\w])(?:${names})\\.(?!(?:${TIMES})\\b)\\w|\\}: (?:Pick<)?(?:Run|Batch)\\b|\\} = (?:${names});`);
  const lines = text.split("\n").filter((line) => looks.test(line) && !/^\s*(?:\*|\/\/|\/\*)/.test(line));
  return [...all.filter((what) => !/^type \{ (?:Run|Batch|Batch, Run) \}$/.test(what)), ...lines.map((line) => line.trim())];
}

test("no file that draws a run looks into it: each draws the one model", () => {
  const files = globSync(DRAWING, { cwd: SRC }).filter((file) => !file.endsWith(".test.ts") && !Object.hasOwn(ELSEWHERE, file));
  expect(files.length).toBeGreaterThan(15);
  const breaches = files.flatMap((file) => breachesOf(readFileSync(`${SRC}${file}`, "utf8")).map((one) => `${file}: ${one}`));
  expect(breaches).toEqual([]);
});

test.each(["run.batches.length", "const { paused } = run;", "function why({ why }: Run) {"])("%s is a look into it", (line) => {
  const from = 'import type { Run } from "../run/state/run.ts";';
  expect(breachesOf(`${from}\nmodelOf(run, now);\n${line}`)).toEqual([line]);
  expect(breachesOf('import type { Requeued } from "../run/state/run.ts";')).toHaveLength(1);
});
