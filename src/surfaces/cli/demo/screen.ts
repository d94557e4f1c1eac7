import type { Clock } from "../../../core/base/time.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { renderTree } from "../../../core/report/tree/tree.ts";
import type { Run } from "../../../core/run/state/run.ts";

interface DemoScreen {
  /** A line that stays. */
  say(line: string): void;
  /** A Markdown text, as the bot wrote it, below a heading. */
  show(heading: string, markdown: string): void;
  /** Something that happened while the tree is drawn: shown above it. */
  note(line: string): void;
  draw(run: Run): void;
  close(): void;
}

/**
 * Draws the run in place on a terminal; where there is none, prints a line for each thing that changed, so that a log of
 * it reads well too.
 */
export function demoScreen({ clock, quiet }: { clock: Clock; quiet: boolean }): DemoScreen {
  const out = process.stdout;
  const live = out.isTTY === true && !quiet;
  const color = live && (process.env["NO_COLOR"] ?? "") === "";
  let drawn = 0;
  let last = "";
  const said = new Set<string>();

  function print(text: string): void {
    if (!quiet) out.write(`${text}\n`);
  }

  function erase(): void {
    if (drawn > 0) out.write(`\u001b[${drawn}A\u001b[J`);
    drawn = 0;
  }

  function redraw(run: Run): void {
    // The cursor stands on a line of its own below.
    const room = { width: out.columns ?? 100, rows: (out.rows ?? 50) - 1 };
    const rows = renderTree(run, clock.now(), { color, ...room })
      .trimEnd()
      .split("\n");
    const text = rows.join("\n");
    if (text === last && drawn > 0) return;
    erase();
    out.write(`${text}\n`);
    drawn = rows.length;
    last = text;
  }

  /** Without a terminal: each batch's and requeued cluster's new state, once. */
  function tellChanges(run: Run): void {
    for (const batch of run.batches) {
      const pull = batch.pull === undefined ? "" : ` (PR #${batch.pull.number})`;
      once(
        `${run.plan.stages[batch.stage]?.name} ${batch.ofStage}${batch.kind === "CatchUp" ? " (catch-up)" : batch.kind === "Hotfix" ? " (hotfix)" : batch.kind === "Revert" ? " (revert)" : ""}${pull}: ${batch.phase}`,
        batch.targets.map((t) => t.cluster.split("/").at(-1)).join(", "),
      );
    }
    once(`${run.rollout} #${run.number}: ${run.phase}`, sentenceOf(run.why));
  }

  function once(line: string, more: string): void {
    if (said.has(line)) return;
    said.add(line);
    print(`${new Date(clock.now()).toISOString().slice(11, 19)}  ${line}: ${more}`);
  }

  return {
    say: print,
    show(heading, markdown) {
      print(`\n${heading}:\n`);
      for (const line of plain(markdown)) print(`  │ ${line}`);
      print("");
    },
    note(line) {
      erase();
      print(`  ${line}`);
      last = "";
    },
    draw(run) {
      if (live) redraw(run);
      else tellChanges(run);
    },
    close() {
      drawn = 0;
    },
  };
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
