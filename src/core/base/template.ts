import { splitBraces } from "./braces.ts";
import { defined } from "./defined.ts";
import { nearest } from "./nearest.ts";

/**
 * Templates in pins: `{{ cluster.name }}`, `{{ cluster.server }}`, `{{ cluster.labels.X }}`, `{{ application.name }}`,
 * `{{ application.namespace }}`, `{{ application.path }}`, `{{ application.valuesFile }}`, `{{ application.set }}`, `{{ application.labels.X }}`,
 * `{{ destination.namespace }}`, `{{ controlPlane }}` or `{{ controlPlane.name }}`, `{{ controlPlane.labels.X }}`, `{{ params.X }}`,
 * `{{ release.version }}`, `{{ release.values.X }}`, and of either that is an image `.tag` and `.digest` behind it. A name with special
 * characters may be quoted: `{{ cluster.labels["topology.kubernetes.io/region"] }}`, or written as it is. Values of weight pins
 * also know `{{ step.weight }}` and `{{ step.replicas }}`, which only planning can fill in.
 */
export interface TemplateValues {
  cluster: { name: string; server: string; labels: Readonly<Record<string, string>> };
  /**
   * `path`: folder of its first source that has one. `valuesFile`: the last of its Helm values files, from the repo's root. `set`: name of
   * the ApplicationSet that makes it. `labels` absent: not known here.
   */
  application: {
    name: string;
    namespace: string;
    path?: string;
    valuesFile?: string;
    set?: string;
    labels?: Readonly<Record<string, string>>;
  };
  destination: { namespace?: string | undefined };
  controlPlane: { name: string; labels: Readonly<Record<string, string>> };
  params: Readonly<Record<string, string>>;
  release: Readonly<Record<string, string>>;
}

/** `part`: of a release's value alone. */
type Variable =
  | { root: (typeof PLAIN)[number]; part?: ImagePart }
  | { root: (typeof KEYED)[number]; key: string; part?: ImagePart }
  | { root: "step.weight" | "step.replicas" };

export type TemplatePart = { text: string } | { variable: Variable; source: string };

/** What is wrong with a template, and which variables it may have; `near`: which of them was most likely meant. */
export type TemplateFault =
  | { kind: "Open"; template: string }
  | { kind: "Unknown"; variable: string; known: readonly string[]; near?: string };

type ParsedTemplate = { ok: true; parts: TemplatePart[] } | { ok: false; fault: TemplateFault };

type ImagePart = "tag" | "digest";

const PLAIN = [
  "cluster.name",
  "cluster.server",
  "application.name",
  "application.namespace",
  "application.path",
  "application.valuesFile",
  "application.set",
  "destination.namespace",
  "controlPlane",
  "controlPlane.name",
  "release.version",
] as const;
const OF_STEPS = ["step.weight", "step.replicas"] as const;
const KEYED = ["cluster.labels", "application.labels", "controlPlane.labels", "params", "release.values"] as const;
const KNOWN: readonly string[] = [
  ...[...PLAIN, ...KEYED.map((root) => `${root}.X`)],
  ...["release.version.tag", "release.version.digest", "release.values.X.tag", "release.values.X.digest"],
];

/** Splits a template into texts and variables. An unknown variable or an open `{{` is an error. `ofSteps`: of a weight pin's value. */
export function parseTemplate(template: string, ofSteps = false): ParsedTemplate {
  const parts: TemplatePart[] = [];
  const split = splitBraces(template);
  if (split === undefined) return { ok: false, fault: { kind: "Open", template } };
  for (const part of split) {
    if ("text" in part) {
      parts.push(part);
      continue;
    }
    const source = part.tag.trim();
    const variable = variableOf(source, ofSteps);
    if (variable === undefined)
      return {
        ok: false,
        fault: {
          kind: "Unknown",
          variable: source,
          known: ofSteps ? [...OF_STEPS, ...KNOWN] : KNOWN,
          ...defined({ near: nearVariable(source) }),
        },
      };
    parts.push({ variable, source });
  }
  return { ok: true, parts };
}

/** The parts of a template; one that cannot be read is the text that it is. */
export function templateParts(template: string, ofSteps = false): TemplatePart[] {
  const parsed = parseTemplate(template, ofSteps);
  return parsed.ok ? parsed.parts : [{ text: template }];
}

/** The variables of a template; none of one that cannot be read. */
export function variablesIn(template: string): Variable[] {
  return templateParts(template, true).flatMap((part) => ("variable" in part ? [part.variable] : []));
}

/** A slip of the fingers, or what stands one step further down: `release.image` for `release.values.image`, `cluster.env` for `cluster.labels.env`. */
function nearVariable(source: string): string | undefined {
  const slip = nearest(source, PLAIN);
  if (slip !== undefined) return slip;
  const [, root = "", rest = ""] = /^(release|cluster|application|controlPlane)\.(\w[\w/-]{0,60}(?:\.(?:tag|digest))?)$/.exec(source) ?? [];
  if (root === "") return undefined;
  return root === "release" ? `release.values.${rest}` : rest.includes(".") ? undefined : `${root}.labels.${rest}`;
}

function variableOf(source: string, ofSteps: boolean): Variable | undefined {
  for (const root of ofSteps ? OF_STEPS : []) if (source === root) return { root };
  for (const root of PLAIN) if (source === root) return { root };
  const [, of = "", part] = /^(release\.(?:version|values\.\w+|values\[.*\]))\.(tag|digest)$/.exec(source) ?? [];
  const whole = part === undefined ? undefined : variableOf(of, false);
  if (whole !== undefined && "key" in whole) return { ...whole, part: part as ImagePart };
  if (part !== undefined && of === "release.version") return { root: of, part: part as ImagePart };
  for (const root of KEYED) {
    if (!source.startsWith(root)) continue;
    const quoted = /^\[\s*(?:"([^"]+)"|'([^']+)')\s*\]$/.exec(source.slice(root.length));
    const key = quoted?.[1] ?? quoted?.[2] ?? /^\.([\w./-]+)$/.exec(source.slice(root.length))?.[1];
    if (key !== undefined) return { root, key };
  }
  return undefined;
}

/** `near`: the variable that has a value and was most likely meant. */
interface NoValue {
  ok: false;
  missing: string;
  near: string | undefined;
}

/** Fills a template in; the variable that has no value is named. With `asPath`, values with special characters are quoted as pin paths want it. */
export function renderTemplate(
  parts: readonly TemplatePart[],
  values: TemplateValues,
  asPath = false,
): { ok: true; text: string } | NoValue {
  let text = "";
  for (const [i, part] of parts.entries()) {
    if ("text" in part) {
      text += part.text;
      continue;
    }
    const value = lookUp(part.variable, values);
    if (value === undefined) return { ok: false, missing: part.source, near: nearTo(part.variable, values) };
    const next = parts[i + 1];
    const after = next === undefined ? "" : "text" in next ? next.text : "{{";
    text = asPath && !/^[\w-]+$/.test(value) ? appendQuoted(text, value, after) : text + value;
  }
  return { ok: true, text };
}

/** `[cluster=` + `a.b` → `[cluster="a.b"`, `clusters.` + `a.b` → `clusters["a.b"]`; where the value is only part of a name, as it is. */
function appendQuoted(before: string, value: string, after: string): string {
  if (/\[[^\]"']*=\s*$/.test(before) && after.startsWith("]")) return before + JSON.stringify(value);
  const isWholeKey = (before === "" || before.endsWith(".") || before.endsWith("/")) && /^($|[.[!])/.test(after);
  return isWholeKey ? `${before.replace(/\.$/, "")}[${JSON.stringify(value)}]` : before + value;
}

/** Looked through for each target. */
const MOST_NEAR = 100;
/** Values of a release are the same for all of them, and may have many names. */
const NAMES = new WeakMap<object, readonly string[]>();

function namesOf(values: object): readonly string[] {
  const names = NAMES.get(values) ?? Object.keys(values).slice(0, MOST_NEAR);
  NAMES.set(values, names);
  return names;
}

function nearTo(variable: Variable, { cluster, application, controlPlane, params, release }: TemplateValues): string | undefined {
  if (!("key" in variable)) return undefined;
  const labels = {
    "cluster.labels": cluster.labels,
    "application.labels": application.labels ?? {},
    "controlPlane.labels": controlPlane.labels,
  };
  const known = { ...labels, params, "release.values": release }[variable.root];
  const near = nearest(variable.key, namesOf(known));
  return near === undefined ? undefined : `${variable.root}.${near}`;
}

function lookUp(variable: Variable, values: TemplateValues): string | undefined {
  switch (variable.root) {
    case "cluster.name":
      return values.cluster.name;
    case "cluster.server":
      return values.cluster.server;
    case "application.name":
      return values.application.name;
    case "application.namespace":
      return values.application.namespace;
    case "application.path":
      return values.application.path;
    case "application.valuesFile":
      return values.application.valuesFile;
    case "application.set":
      return values.application.set;
    case "destination.namespace":
      return values.destination.namespace;
    case "controlPlane":
    case "controlPlane.name":
      return values.controlPlane.name;
    case "controlPlane.labels":
      return own(values.controlPlane.labels, variable.key);
    case "release.version":
      return partOf(own(values.release, "version"), variable.part);
    case "cluster.labels":
      return own(values.cluster.labels, variable.key);
    case "application.labels":
      return own(values.application.labels ?? {}, variable.key);
    case "params":
      return own(values.params, variable.key);
    case "release.values":
      return partOf(own(values.release, variable.key), variable.part);
    case "step.weight":
    case "step.replicas":
      return undefined;
  }
}

/** Of `repo:tag@digest`, `tag@digest`, or one of them. undefined: it has none. */
function partOf(value: string | undefined, part: ImagePart | undefined): string | undefined {
  if (value === undefined || part === undefined) return value;
  const [front = "", digest] = value.split("@", 2);
  if (part === "digest") return digest ?? (/^[a-z0-9]+:[0-9a-f]{32,}$/.test(value) ? value : undefined);
  const colon = front.lastIndexOf(":");
  const isNamed = colon > front.lastIndexOf("/");
  const tag = isNamed ? front.slice(colon + 1) : front.includes("/") ? "" : front;
  return tag === "" || /^[a-z0-9]+:[0-9a-f]{32,}$/.test(value) ? undefined : tag;
}

function own(record: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
