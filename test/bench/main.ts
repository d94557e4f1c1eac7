/**
 * `npm run bench [NAME…]`: measures what the project promises to be fast at, prints one table, and says where a promise is
 * not kept. Not part of the tests: a busy machine makes any timed test lie.
 */
import type { BenchRow } from "./row.ts";

const SUITES: Record<string, () => Promise<BenchRow[]>> = {
  plan: async () => (await import("./plan.ts")).benchPlan(),
  pins: async () => (await import("./pins.ts")).benchPins(),
  appset: async () => (await import("./appset.ts")).benchAppset(),
  repo: async () => (await import("./repo.ts")).benchRepo(),
  git: async () => (await import("./git.ts")).benchGit(),
  mirror: async () => (await import("./mirror.ts")).benchMirror(),
  argocd: async () => (await import("./argocd.ts")).benchArgoCd(),
  run: async () => (await import("./run.ts")).benchRun(),
  journey: async () => (await import("./journey.ts")).benchJourney(),
  calls: async () => (await import("./calls.ts")).benchCalls(),
  commands: async () => (await import("./commands.ts")).benchCommands(),
  webhooks: async () => (await import("./webhooks.ts")).benchWebhooks(),
  cell: async () => (await import("./cell.ts")).benchCell(),
  page: async () => (await import("./page.ts")).benchPage(),
  scale: async () => (await import("./scale.ts")).benchScale(),
  shared: async () => (await import("./shared.ts")).benchShared(),
  fleet: async () => (await import("./fleet.ts")).benchFleet(),
  idle: async () => (await import("./idle.ts")).benchIdle(),
  noisy: async () => (await import("./noisy.ts")).benchNoisy(),
};

function line(row: BenchRow): string {
  const kept = row.limit === undefined ? "" : (row.atLeast === true ? row.value >= row.limit : row.value <= row.limit) ? "✔" : "✖";
  const limit = row.limit === undefined ? "" : `${row.atLeast === true ? "≥" : "≤"} ${row.limit}`;
  const ratio = row.limit === undefined || row.limit === 0 ? "" : `${(row.value / row.limit).toFixed(2)}×`;
  const value = row.value >= 100 ? row.value.toFixed(0) : row.value.toPrecision(3);
  return `${row.name.padEnd(64)} ${value.padStart(9)} ${row.unit.padEnd(10)} ${limit.padStart(8)} ${ratio.padStart(8)} ${kept}`;
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => SUITES[name] === undefined);
if (unknown.length > 0) {
  console.error(`no benchmark called ${unknown.join(", ")}; there are ${Object.keys(SUITES).join(", ")}`);
  process.exit(2);
}
console.log(`${"what".padEnd(64)} ${"measured".padStart(9)} ${"".padEnd(10)} ${"promised".padStart(8)} ${"of it".padStart(8)}`);
for (const [name, suite] of Object.entries(SUITES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const row of await suite()) console.log(line(row));
}
