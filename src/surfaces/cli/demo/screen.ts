/** What the demo prints: the run drawn in place or told line by line, and the last words. Called by `demo.ts`. */
import type { Clock } from "../../../core/base/time.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { renderTree } from "../../../core/report/tree/tree.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import { type LiveScreen, openLiveScreen } from "../live-screen.ts";
import { json, wantsColour } from "../print.ts";

/**
 * Draws the run in place on a terminal; where there is none, prints a line for each thing that changed, so that a log of
 * it reads well too.
 */
export function demoScreen({ clock, quiet }: { clock: Clock; quiet: boolean }) {
  const out = process.stdout;
  const live = out.isTTY === true && !quiet;
  const color = live && wantsColour();
  let screen: LiveScreen | undefined;
  const said = new Set<string>();

  function print(text: string): void {
    if (!quiet) out.write(`${text}\n`);
  }

  function redraw(run: Run): void {
    screen ??= openLiveScreen(out, { alternate: false });
    screen.draw(
      renderTree(run, clock.now(), { color, ...screen.room() })
        .trimEnd()
        .split("\n"),
    );
  }

  function once(line: string, more: string): void {
    if (said.has(line)) return;
    said.add(line);
    print(`${new Date(clock.now()).toISOString().slice(11, 19)}  ${line}: ${more}`);
  }

  return {
    /** A line that stays. */
    say: print,
    /** A Markdown text, as the bot wrote it, below a heading. */
    show(heading: string, markdown: string): void {
      print(`\n${heading}:\n`);
      for (const line of plain(markdown)) print(`  │ ${line}`);
      print("");
    },
    /** Something that happened while the tree is drawn: shown above it. */
    note(line: string): void {
      if (screen === undefined) print(`  ${line}`);
      else screen.note(`  ${line}`);
    },
    draw(run: Run): void {
      if (live) redraw(run);
      else for (const [line, more] of statesOf(run)) once(line, more);
    },
    close(): void {
      screen?.close();
      screen = undefined;
    },
  };
}

const KIND_MARKS: Partial<Record<Batch["kind"], string>> = { CatchUp: " (catch-up)", Hotfix: " (hotfix)", Revert: " (revert)" };

/** Each batch's state and the run's, as a line and what is said to it. */
function statesOf(run: Run): [line: string, more: string][] {
  const batches = run.batches.map((batch): [string, string] => {
    const pull = batch.pull === undefined ? "" : ` (PR #${batch.pull.number})`;
    const name = `${run.plan.stages[batch.stage]?.name} ${batch.ofStage}${KIND_MARKS[batch.kind] ?? ""}`;
    return [`${name}${pull}: ${batch.phase}`, batch.targets.map((t) => t.cluster.split("/").at(-1)).join(", ")];
  });
  return [...batches, [`${run.rollout} #${run.number}: ${run.phase}`, sentenceOf(run.why)]];
}

/** The comment without what only GitHub draws: the hidden marker, the chart, the folded part. */
function plain(markdown: string): string[] {
  return markdown
    .replace(/<!--[\s\S]*?-->\n?/g, "")
    .replace(/```mermaid[\s\S]*?```\n*/g, "")
    .replace(/<details>[\s\S]*?<\/details>\n*/g, "")
    .replace(/<\/?sub>/g, "")
    .replace(/\\([\\`*_{}[\]<>|#~])/g, "$1")
    .split("\n");
}

export function printJson(run: Run, violations: readonly unknown[], durationMs: number): void {
  const pullRequests = run.batches.flatMap((batch) => (batch.pull === undefined ? [] : [batch.pull.number]));
  const result = { ...run, pullRequests, durationMs: Math.round(durationMs), violations };
  process.stdout.write(json(result));
}

interface Figures {
  violations: number;
  durationMs: number;
  once: boolean;
  journal: string;
  faults?: number;
}

/** The last words; with `--once` nothing of the embedded world outlives them, so nothing of it is named. */
export function lastWords(run: Run, { violations, durationMs, once, journal, faults = 0 }: Figures): string {
  const merged = run.batches.filter((batch) => batch.merged !== undefined && batch.pull !== undefined).length;
  const there = once
    ? ["  the page of it, kept up to look at: stagecoach demo"]
    : [
        `  git log --oneline of the journal:  git --git-dir ${journal} log --oneline stagecoach/journal`,
        `  one of the batches' pull requests: ${run.batches[0]?.pull?.url ?? "none was opened"}`,
      ];
  const lines = [
    "",
    `${run.phase}: ${sentenceOf(run.why, run)}`,
    `${merged} pull requests, ${violations} invariants violated, ${(durationMs / 1000).toFixed(1)} s of your time.`,
    "",
    "Where to look next",
    ...there,
    "  the rollout itself:                fixtures/fleet/rollouts/my-app.yaml",
    faults === 0
      ? "  how a failure looks:               stagecoach demo --fail eu-central-1-b=degraded"
      : "  what people may do then:           docs/failure.md",
  ];
  return `${lines.join("\n")}\n`;
}
