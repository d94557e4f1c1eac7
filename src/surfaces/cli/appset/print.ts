import { Document } from "yaml";
import { type RenderedApplication, type RenderedGenerator, type RenderResult, sourceOf } from "../../../core/appset/index.ts";
import { sayRender } from "../../../core/report/reasons/render.ts";

export interface RenderedSet {
  name: string;
  result: RenderResult;
}

/** One object per top-level generator, as `--params -o json` documents it. */
function generatorRows(sets: readonly RenderedSet[]): Record<string, unknown>[] {
  return sets.flatMap(({ name, result }) => result.generators.map((generator) => generatorRow(name, generator)));
}

function generatorRow(applicationSet: string, { problem, ...generator }: RenderedGenerator): Record<string, unknown> {
  if (problem === undefined) return { applicationSet, ...generator };
  return { applicationSet, ...generator, problem: { code: problem.code, where: problem.where, ...sayRender(problem) } };
}

function applications(sets: readonly RenderedSet[]): RenderedApplication[] {
  return sets.flatMap((set) => set.result.applications);
}

export function asJson(sets: readonly RenderedSet[], params: boolean): string {
  return `${JSON.stringify(params ? generatorRows(sets) : applications(sets), null, 2)}\n`;
}

/** One document each, as `kubectl apply -f` takes them. */
export function asYaml(sets: readonly RenderedSet[], params: boolean): string {
  const items: unknown[] = params ? generatorRows(sets) : applications(sets);
  return items.map((item) => new Document(plain(item), { aliasDuplicateObjects: false }).toString({ lineWidth: 0 })).join("---\n");
}

function plain(item: unknown): unknown {
  return JSON.parse(JSON.stringify(item));
}

export function asText(sets: readonly RenderedSet[], params: boolean): string {
  return sets.map((set) => (params ? paramsText(set) : applicationsText(set))).join("\n");
}

function paramsText({ name, result }: RenderedSet): string {
  const lines = result.generators.flatMap((generator) => {
    const head = `${name}  generator ${generator.index} (${generator.kind})`;
    if (generator.problem !== undefined) return [`${head}: ${sayRender(generator.problem).message}`];
    return [`${head}: ${count(generator.params.length, "parameter set")}`, ...generator.params.map((set) => `  ${JSON.stringify(set)}`)];
  });
  return `${lines.join("\n")}\n`;
}

function applicationsText({ name, result }: RenderedSet): string {
  if (!result.ok) return `${name}: cannot be rendered\n`;
  const rows = result.applications.map(row);
  const widths = [0, 1, 2].map((column) => Math.max(0, ...rows.map((cells) => cells[column]?.length ?? 0)));
  const lines = rows.map((cells) => `  ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd());
  return `${[`${name}: ${count(rows.length, "Application")}`, ...lines].join("\n")}\n`;
}

/** Name, where to, and what at which revision. */
function row(application: RenderedApplication): string[] {
  const { sources, destination } = sourceOf(application);
  const place = [destination["name"] ?? destination["server"] ?? "?", destination["namespace"]]
    .filter((part) => part !== undefined)
    .join("/");
  const what = sources.map(
    (source) =>
      `${String(source["path"] ?? source["chart"] ?? source["ref"] ?? source["repoURL"] ?? "?")}@${String(source["targetRevision"] ?? "HEAD")}`,
  );
  return [application.metadata.name, place, what.join(", ")];
}

function count(many: number, what: string): string {
  return `${many} ${what}${many === 1 ? "" : "s"}`;
}
