import { WAIT_GATES } from "../src/core/report/figures/waits.ts";
import { CATALOG, type CatalogEntry } from "../src/surfaces/server/telemetry/catalog.ts";

const INTRO = `# Metrics

<!-- Generated from src/surfaces/server/telemetry/catalog.ts by \`npm run generate\`; do not edit. -->

What \`GET /metrics\` on the [inside](../configuration.md#numbers) address tells, besides \`process_*\` and \`nodejs_*\`. [Metrics, alerts, traces](../metrics.md) has what to do with it.
All begin with \`stagecoach_\`. A histogram has \`_bucket\`, \`_sum\` and \`_count\`.

| metric | labels | is |
| --- | --- | --- |
`;

/** The page of all metrics. */
export function metricsPage(): string {
  const rows = Object.entries<CatalogEntry>(CATALOG).map(([name, { type, help, labels = [] }]) => {
    const named = labels.map((label) => `\`${label}\``).join(", ");
    return `| \`${name.slice("stagecoach_".length)}\` (${type}) | ${named} | ${help} |`;
  });
  const gates = WAIT_GATES.map((gate) => `\`${gate}\``).join(", ");
  return `${INTRO}${rows.join("\n")}\n\n\`gate\` is one of ${gates}.\n`;
}
