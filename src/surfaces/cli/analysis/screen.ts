import { type AnalysisState, isOver, type MetricState } from "../../../adapters/analysis/port.ts";
import { visible, wantsColour } from "../print.ts";

const COLOURS: Record<AnalysisState["phase"], string> = {
  Pending: "2",
  Running: "36",
  Successful: "32",
  Failed: "31",
  Inconclusive: "33",
  Error: "31",
};

/** A table drawn in place on a terminal; elsewhere a line for each measurement, and the table at the end. */
export function analysisScreen(name: string, quiet: boolean): { draw(state: AnalysisState): void } {
  const out = process.stdout;
  const live = out.isTTY === true;
  const taken = new Map<string, number>();
  let drawn = 0;
  return {
    draw(state) {
      if (quiet) return;
      if (drawn > 0) out.write(`\u001b[${drawn}A\u001b[J`);
      if (!live) for (const metric of state.metrics) tell(metric, taken);
      if (!live && !isOver(state)) return;
      const text = analysisTable(name, state, wantsColour());
      out.write(text);
      drawn = live ? text.split("\n").length - 1 : 0;
    },
  };
}

function tell(metric: MetricState, taken: Map<string, number>): void {
  const count = metric.count + metric.error;
  if (taken.get(metric.name) === count || count === 0) return;
  taken.set(metric.name, count);
  const said = metric.value ?? metric.message ?? "";
  process.stdout.write(visible(`${metric.name} ${count}: ${said}\n`));
}

/** Ends in a newline. */
function analysisTable(name: string, state: AnalysisState, colour: boolean): string {
  const paint = (phase: AnalysisState["phase"], text: string) => (colour ? `\u001b[${COLOURS[phase]}m${text}\u001b[0m` : text);
  const head = ["metric", "state", "ok", "failed", "inconclusive", "errors", "last value"];
  const rows = state.metrics.map((metric) => [
    `${metric.name}${metric.dryRun ? " (dry run)" : ""}`,
    metric.phase,
    ...[metric.successful, metric.failed, metric.inconclusive, metric.error].map(String),
    metric.value ?? "",
  ]);
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => visible(row[at] ?? "").length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((text, at) => visible(text).padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  const lines = [
    `${visible(name)}: ${paint(state.phase, state.phase)}, ${visible(state.message)}`,
    "",
    line(head),
    ...rows.map((row, at) => paint(state.metrics[at]?.phase ?? "Pending", line(row))),
  ];
  return `${lines.join("\n")}\n`;
}
