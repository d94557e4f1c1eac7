/** Charts as far as they make ApplicationSets and Applications: templates with values, helpers and `template`. Called by `render-source.ts`. */
import { posix } from "node:path";
import { isRecord } from "../../../core/base/is-record.ts";
import { parseYaml } from "../../../core/base/yaml-read.ts";
import { compileGoTemplate, TemplateError } from "../../../core/gotemplate/index.ts";
import type { GoValue } from "../../../core/gotemplate/value.ts";
import { mergePatch } from "../../kubernetes/patch.ts";
import type { KubeObject } from "../../kubernetes/types.ts";
import type { ApplicationSource } from "../types.ts";
import { below, type CommitFiles, filesOf, ManifestError, objectsIn, type RenderedFor, type RenderedSource } from "./files.ts";

interface HelmOptions {
  releaseName?: string;
  valueFiles?: string[];
  values?: string;
  valuesObject?: unknown;
  parameters?: { name: string; value: string; forceString?: boolean }[];
  ignoreMissingValueFiles?: boolean;
}

export async function renderChart(one: RenderedSource, files: CommitFiles, application: RenderedFor): Promise<KubeObject[]> {
  const chart = parseYaml(await files.read(below(one.path, "Chart.yaml")));
  if (!isRecord(chart)) throw new ManifestError(`${one.path}: Chart.yaml file is missing`);
  if (Array.isArray(chart["dependencies"]) && chart["dependencies"].length > 0)
    throw new ManifestError(`${one.path}: the embedded Argo CD does not render charts with dependencies`);
  const helm = optionsOf(one.source);
  const prefix = below(one.path, "templates/");
  const own = [...files.tree].flatMap(([name, { type }]) => (type === "blob" && name.startsWith(prefix) ? [name] : []));
  const isHelper = (name: string) => posix.basename(name).startsWith("_");
  const helpers: string[] = [];
  for (const name of own.filter(isHelper)) helpers.push(await files.read(name));
  const data = {
    Values: await valuesOf(one, files, helm),
    Release: { Name: helm.releaseName ?? application.name, Namespace: application.namespace, Service: "Helm", Revision: 1 },
    Chart: { Name: chart["name"], Version: chart["version"], AppVersion: chart["appVersion"] },
  } as GoValue;
  const objects: KubeObject[] = [];
  for (const name of own.filter((path) => !isHelper(path) && /\.ya?ml$/.test(path)))
    objects.push(...objectsIn(name, execute(name, [...helpers, await files.read(name)].join(""), data), true));
  return objects;
}

function optionsOf(source: ApplicationSource): HelmOptions {
  return (source["helm"] ?? {}) as HelmOptions;
}

function execute(name: string, template: string, data: GoValue): string {
  try {
    // Helm, too, writes nothing where Go would write that there is no value.
    return compileGoTemplate(template)(data, "zero").replaceAll("<no value>", "");
  } catch (error) {
    if (error instanceof TemplateError) throw new ManifestError(`template: ${name}: ${error.message}`);
    throw error;
  }
}

/** The chart's own, then values files in their order, then what the Application says itself, parameters last. */
async function valuesOf(one: RenderedSource, files: CommitFiles, helm: HelmOptions): Promise<unknown> {
  const own = below(one.path, "values.yaml");
  let values: unknown = files.tree.has(own) ? (parseYaml(await files.read(own)) ?? {}) : {};
  for (const file of helm.valueFiles ?? []) {
    const [, ref, rest = ""] = /^\$([^/]+)\/(.*)$/.exec(file) ?? [];
    const other = ref === undefined ? undefined : one.refs.get(ref);
    if (ref !== undefined && other === undefined) throw new ManifestError(`error resolving helm value files: no source has the ref ${ref}`);
    const at = other === undefined ? files : await filesOf(other);
    const path = ref !== undefined ? posix.normalize(rest) : file.startsWith("/") ? file.slice(1) : posix.join(one.path, file);
    if (!at.tree.has(path) && helm.ignoreMissingValueFiles === true) continue;
    values = mergePatch(values, parseYaml(await at.read(path)) ?? {});
  }
  values = mergePatch(values, helm.valuesObject ?? (helm.values === undefined ? {} : (parseYaml(helm.values) ?? {})));
  for (const { name, value, forceString } of helm.parameters ?? []) {
    const set: unknown = forceString === true ? value : parseYaml(value);
    values = mergePatch(
      values,
      name.split(".").reduceRight<unknown>((inner, key) => ({ [key]: inner }), set),
    );
  }
  return values;
}
