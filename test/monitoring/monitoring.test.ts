import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv } from "ajv";
import { afterAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { WAIT_GATES } from "../../src/core/report/figures/waits.ts";
import { CATALOG, type CatalogEntry } from "../../src/surfaces/server/telemetry/catalog.ts";
import { isObject } from "../schemas/plain-schema.ts";
import { ALERT_CASES } from "./cases.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

const resource = (name: string) => parse(read(`deploy/monitoring/${name}.yaml`)) as Record<string, unknown>;
const groups = (resource("prometheus-rule") as { spec: { groups: { name: string; rules: Rule[] }[] } }).spec.groups;
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read("deploy/monitoring/dashboard.json")) as unknown;

/** What the process and Node tell of themselves, as far as the dashboard draws it. */
const OF_THE_PROCESS = ["process_resident_memory_bytes", "process_cpu_seconds_total"];
const EXPORTED = new Map<string, readonly string[]>(OF_THE_PROCESS.map((name) => [name, ["instance"]]));
for (const [name, { type, labels = [] }] of Object.entries<CatalogEntry>(CATALOG)) {
  const names = type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => name + end) : [name];
  for (const one of names) EXPORTED.set(one, [...labels, ...(one.endsWith("_bucket") ? ["le"] : []), "instance"]);
}

/** Every value of a key, however deep. */
function valuesOf(key: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => valuesOf(key, one));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => (name === key && typeof inner === "string" ? [inner] : valuesOf(key, inner)));
}

const WORDS = new Set("by without on ignoring and or unless bool offset group_left group_right inf nan".split(" "));

/** The metrics that an expression names, and its labels: whatever is a name, and neither a function nor a word of the language. */
function namesIn(expr: string): { metrics: string[]; labels: string[] } {
  const plain = expr.replace(/"(?:\\.|[^"\\])*"/g, '""').replace(/\[[^\]]*\]/g, "");
  const labels: string[] = [];
  const bare = plain
    .replace(/\{([^}]*)\}/g, (_, matchers: string) => {
      labels.push(...[...matchers.matchAll(/([a-zA-Z_]\w*)\s*(?:=~|!~|!=|=)/g)].map(([, name = ""]) => name));
      return "";
    })
    .replace(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g, (_, list: string) => {
      labels.push(...list.split(",").map((name) => name.trim()));
      return "";
    });
  const metrics = [...bare.matchAll(/[a-zA-Z_:][\w:]*(?!\w*\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => !WORDS.has(name.toLowerCase()));
  return { metrics, labels: labels.filter((name) => name !== "") };
}

function unknownIn(expr: string): string[] {
  const { metrics, labels } = namesIn(expr);
  const known = new Set(metrics.flatMap((name) => EXPORTED.get(name) ?? []));
  const unknown = [...metrics.filter((name) => !EXPORTED.has(name)), ...labels.filter((name) => !known.has(name))];
  return metrics.length === 0 ? [`no metric in ${expr}`] : unknown;
}

const QUERIES = [
  ...valuesOf("expr", dashboard),
  ...valuesOf("definition", dashboard).map((one) => one.replace(/^label_values\((.*), (\w+)\)$/, "sum by ($2) ($1)")),
];

describe("deploy/monitoring/", () => {
  test("every query of the dashboard, and every alert, asks for metrics that are exported, by labels that they have", () => {
    expect(QUERIES.length).toBeGreaterThan(30);
    expect([...QUERIES, ...rules.map(({ expr }) => expr)].flatMap(unknownIn)).toEqual([]);
  });

  test("gates that they name are ones that a run may wait for", () => {
    const named = [...QUERIES, ...rules.map(({ expr }) => expr)]
      .flatMap((expr) => [...expr.matchAll(/gate=~?"([^"]*)"/g)])
      .flatMap(([, gates = ""]) => gates.split("|"));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((gate) => !(WAIT_GATES as readonly string[]).includes(gate))).toEqual([]);
  });

  test("that check sees a metric that is not there, a label of another, and an expression of none", () => {
    expect(unknownIn("sum by (phase) (rate(stagecoach_run_total[5m])) > 1")).toEqual(["stagecoach_run_total", "phase"]);
    expect(unknownIn('max by (of) (stagecoach_runs{gate="bake"}) or vector(0)')).toEqual(["gate", "of"]);
    expect(unknownIn("vector(0)")).toHaveLength(1);
  });

  test("the dashboard shows every metric but those that alerts alone need, and its panels do not overlap", () => {
    const shown = new Set(QUERIES.flatMap((query) => namesIn(query).metrics.map((name) => name.replace(/_bucket$/, ""))));
    expect(Object.keys(CATALOG).filter((name) => !shown.has(name))).toEqual([]);
    const cells = (dashboard as { panels: { gridPos: { x: number; y: number; w: number; h: number } }[] }).panels.flatMap(
      ({ gridPos: { x, y, w, h } }) => Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(cells.filter((cell) => Number(cell.split(",")[0]) > 23)).toEqual([]);
  });

  test.each(["prometheus-rule", "service-monitor"])("%s.yaml fits what the Prometheus operator has published", (name) => {
    const { kind, spec, apiVersion } = resource(name);
    const schemas = JSON.parse(read("test/schemas/prometheus-operator.generated.json")) as Record<string, object>;
    const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schemas[String(kind)] ?? { not: {} });
    expect([apiVersion, validate(spec), validate.errors]).toEqual(["monitoring.coreos.com/v1", true, null]);
    expect(validate({ ...(spec as object), selektor: {} })).toBe(false);
  });

  test("the ServiceMonitor finds the service of the inside door, and every file belongs to the kustomization", () => {
    const monitor = resource("service-monitor") as {
      spec: { selector: { matchLabels: object }; endpoints: { port: string; path: string }[] };
    };
    const services = read("deploy/base/service.yaml")
      .split("\n---\n")
      .map((text) => parse(text) as { metadata: { labels?: object }; spec: { ports: { name: string }[] } });
    const found = services.filter(({ metadata }) =>
      Object.entries(monitor.spec.selector.matchLabels).every(
        ([key, value]) => (metadata.labels as Record<string, string> | undefined)?.[key] === value,
      ),
    );
    expect(found.map(({ spec }) => spec.ports.map(({ name }) => name))).toEqual([monitor.spec.endpoints.map(({ port }) => port)]);
    const kustomization = read("deploy/monitoring/kustomization.yaml");
    const files = globSync("*", { cwd: join(ROOT, "deploy/monitoring") }).filter(
      (file) => !["kustomization.yaml", "alertmanager.yaml"].includes(file),
    );
    expect(files.filter((file) => !kustomization.includes(file))).toEqual([]);
  });

  test("every alert tells what is wrong, and docs/metrics.md what to do; every one is tried below", () => {
    const page = read("docs/metrics.md");
    expect(rules.filter(({ annotations: { summary, description } }) => !summary || !description)).toEqual([]);
    expect(rules.map(({ alert }) => alert).filter((alert) => !new RegExp(`^\\| \`${alert}\``, "m").test(page))).toEqual([]);
    expect(Object.keys(ALERT_CASES).sort()).toEqual(rules.map(({ alert }) => alert).sort());
  });

  test("the example for Alertmanager pages for what is critical by PagerDuty and Opsgenie, and holds no secret", () => {
    const { route, receivers } = resource("alertmanager") as {
      route: { receiver: string; routes: { matchers: string[]; receiver: string; continue?: boolean }[] };
      receivers: Record<string, object[]>[];
    };
    const to = route.routes.map(({ receiver }) => receiver);
    expect([route.receiver, ...to].filter((name) => !receivers.some((one) => String(one["name"]) === name))).toEqual([]);
    const critical = route.routes.filter(({ matchers }) => matchers.includes('severity="critical"'));
    expect(critical.map(({ receiver, continue: on }) => [receiver, on])).toEqual([
      ["pagerduty", true],
      ["opsgenie", undefined],
    ]);
    const keys = receivers.flatMap((one) =>
      Object.entries(one).flatMap(([, configs]) => (Array.isArray(configs) ? configs.flatMap((config) => Object.keys(config)) : [])),
    );
    expect(keys.filter((key) => /key|url|token|password/.test(key) && !key.endsWith("_file"))).toEqual([]);
    expect([...new Set(rules.map(({ labels }) => labels["severity"]))].sort()).toEqual(["critical", "info", "warning"]);
  });
});

/** As Prometheus fills annotations in, where they hold labels alone. */
function filled(annotations: Record<string, string>, labels: Record<string, string>): Record<string, string> {
  const fill = (text: string) => text.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels[name] ?? "");
  return Object.fromEntries(Object.entries(annotations).map(([name, text]) => [name, fill(text)]));
}

const toSeries = (lines: readonly string[]) =>
  lines.map((line) => {
    const [, series = "", values = ""] = /^(\S+?(?:\{.*\})?) (.*)$/.exec(line) ?? [];
    return { series, values };
  });

function testsOf({ alert: alertname, annotations }: Rule) {
  const { fires, at, before, labels, healthy } = ALERT_CASES[alertname] ?? { fires: [], at: "0m", labels: {}, healthy: [] };
  const { severity: _, ...own } = labels;
  const fired = [{ exp_labels: labels, exp_annotations: filled(annotations, own) }];
  const quiet = (eval_time: string) => ({ eval_time, alertname, exp_alerts: [] });
  return [
    {
      interval: "1m",
      input_series: toSeries(fires),
      alert_rule_test: [...(before === undefined ? [] : [quiet(before)]), { eval_time: at, alertname, exp_alerts: fired }],
    },
    { interval: "1m", input_series: toSeries(healthy), alert_rule_test: ["6m", at].map(quiet) },
  ];
}

describe.skipIf(spawnSync("promtool", ["--version"]).status !== 0)("promtool", () => {
  const folder = mkdtempSync(join(tmpdir(), "rules-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const promtool = (...args: string[]) => {
    const { stdout, stderr, status } = spawnSync("promtool", args, { cwd: folder, encoding: "utf8" });
    return { said: stdout + stderr, status };
  };

  test("takes the alerts, and the queries of the dashboard", () => {
    const record = QUERIES.map((expr, at) => ({ record: `query_${at}`, expr: expr.replaceAll("$__range", "7d") }));
    writeFileSync(join(folder, "all.yaml"), stringify({ groups: [...groups, { name: "dashboard", rules: record }] }));
    expect(promtool("check", "rules", "--lint=all", "--lint-fatal", "all.yaml")).toMatchObject({ status: 0 });
  });

  test("sees each alert fire where it should, not before its time, and not in the healthy case", () => {
    writeFileSync(join(folder, "rules.yaml"), stringify({ groups }));
    const tests = rules.flatMap(testsOf);
    writeFileSync(
      join(folder, "tests.yaml"),
      stringify({ rule_files: ["rules.yaml"], evaluation_interval: "1m", tests }, { lineWidth: 0 }),
    );
    expect(promtool("test", "rules", "tests.yaml")).toEqual({ said: expect.stringContaining("SUCCESS"), status: 0 });
  });
});
