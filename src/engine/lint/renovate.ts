import { parseJSON5 } from "confbox/json5";
import { RE2JS } from "re2js";
import { globMatcher } from "../../core/base/glob.ts";
import { isRecord } from "../../core/base/is-record.ts";
import { madeOnce, type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import type { Edit } from "../../core/plan/plan-types.ts";

/** Where Renovate looks for its settings, in its order; `package.json` last, and only where it has a key for them. */
const PLACES = [
  ...["renovate.json", "renovate.jsonc", "renovate.json5"].flatMap((name) => [name, `.github/${name}`]),
  ...[".renovaterc", ".renovaterc.json", ".renovaterc.jsonc", ".renovaterc.json5", "package.json"],
];
const LARGEST = 256 * 1024;
const MOST_PATTERNS = 500;
const LONGEST_PATTERN = 4000;

/** Managers that write what pins write: the files each takes by default, and which places of them it changes. */
const MANAGERS: Readonly<Record<string, { files: readonly string[]; places: RegExp }>> = {
  kustomize: { files: ["/(^|/)kustomization\\.ya?ml$/"], places: /^(images|resources|bases|components|helmCharts)\b/ },
  "helm-values": { files: ["/(^|/)values\\.ya?ml$/"], places: /(^|\.)(image|tag|version|digest)$/ },
  helmv3: { files: ["/(^|/)Chart\\.ya?ml$/"], places: /^dependencies\b/ },
  argocd: { files: [], places: /(targetRevision|images\b.*|tag|image)$/ },
  kubernetes: { files: [], places: /(^|\.)image$/ },
};

/** Of `:ignoreModulesAndTests`, which the recommended presets have. */
const IGNORED = ["node_modules", "bower_components", "vendor", "examples", "__tests__", "test", "tests", "__fixtures__"].map(
  (folder) => `**/${folder}/**`,
);

/** What Renovate's settings in the repo make of one place; undefined: it leaves that alone. */
export interface RenovateSettings {
  file: string;
  managerOf(edit: Pick<Edit, "file" | "path">): string | undefined;
}

/** Its settings, from the first place that has some; presets of elsewhere are not seen. undefined: the repo has none, or they cannot be read. */
export function renovateIn(files: RepoFiles): RenovateSettings | undefined {
  return madeOnce(files, readSettings);
}

function readSettings(files: RepoFiles): RenovateSettings | undefined {
  for (const file of PLACES) {
    const text = readOrNull(files, file);
    if (text === null || text.length > LARGEST) continue;
    const settings = settingsIn(file, text);
    if (settings !== undefined) return { file, managerOf: (edit) => managerOf(settings, edit, files) };
  }
  return undefined;
}

function settingsIn(file: string, text: string): Record<string, unknown> | undefined {
  try {
    const read: unknown = parseJSON5(text);
    const settings = file === "package.json" && isRecord(read) ? read["renovate"] : read;
    return isRecord(settings) ? settings : undefined;
  } catch {
    // Renovate itself opens an issue on a file that it cannot read.
    return undefined;
  }
}

type Settings = Record<string, unknown>;

function managerOf(settings: Settings, { file, path }: Pick<Edit, "file" | "path">, files: RepoFiles): string | undefined {
  if (settings["enabled"] === false || isLeftOut(settings, file)) return undefined;
  const enabled = texts(settings["enabledManagers"]);
  const isOn = (name: string) => (enabled.length === 0 || enabled.includes(name)) && !isSwitchedOff(settings, name, file);
  for (const [name, { files: defaults, places }] of Object.entries(MANAGERS)) {
    const own = isRecord(settings[name]) ? settings[name] : {};
    if (own["enabled"] === false || !isOn(name) || !places.test(path)) continue;
    if (matchesAny([...defaults, ...patternsOf(own)], file)) return name;
  }
  const custom = [...records(settings["customManagers"]), ...records(settings["regexManagers"])];
  const taker = custom.find(
    (one) => one["enabled"] !== false && matchesAny(patternsOf(one), file) && findsIn(one, readOrNull(files, file)),
  );
  if (taker === undefined) return undefined;
  const kind = typeof taker["customType"] === "string" ? taker["customType"] : "regex";
  return isOn(`custom.${kind}`) ? `custom.${kind}` : undefined;
}

function isLeftOut(settings: Settings, file: string): boolean {
  const own = settings["ignorePaths"];
  const presets = texts(settings["extends"]);
  const recommended = presets.some((one) => /^(config:(recommended|base|best-practices|js-app|js-lib)|:ignoreModulesAndTests)$/.test(one));
  const ignored = Array.isArray(own) ? texts(own) : recommended ? IGNORED : [];
  const included = texts(settings["includePaths"]);
  const isIn = (pattern: string) => file.startsWith(`${pattern.replace(/(?<!\/)\/+$/, "")}/`) || matches(pattern, file);
  return ignored.some((pattern) => file.includes(pattern) || isIn(pattern)) || (included.length > 0 && !included.some(isIn));
}

/** By a rule that asks for nothing but files and managers. */
function isSwitchedOff(settings: Settings, manager: string, file: string): boolean {
  let off = false;
  for (const rule of records(settings["packageRules"])) {
    const asks = Object.keys(rule).filter((key) => /^(match|exclude)/.test(key));
    if (typeof rule["enabled"] !== "boolean" || asks.some((key) => !["matchFileNames", "matchPaths", "matchManagers"].includes(key)))
      continue;
    const names = [...texts(rule["matchFileNames"]), ...texts(rule["matchPaths"])];
    const managers = texts(rule["matchManagers"]);
    const isMeant = (names.length === 0 || matchesAny(names, file)) && (managers.length === 0 || managers.includes(manager));
    if (isMeant) off = !rule["enabled"];
  }
  return off;
}

function patternsOf(manager: Record<string, unknown>): string[] {
  const expressions = [...texts(manager["fileMatch"])].map((one) => `/${one}/`);
  return [...texts(manager["managerFilePatterns"]), ...expressions];
}

/** One of its expressions finds something: where it says nothing that RE2 takes, it may. */
function findsIn(manager: Record<string, unknown>, text: string | null): boolean {
  const wanted = texts(manager["matchStrings"]);
  if (text === null || text.length > LARGEST || wanted.length === 0) return text !== null;
  return wanted.some((one) => expressionOf(one)?.matcher(text).find() ?? true);
}

function matchesAny(patterns: readonly string[], file: string): boolean {
  return patterns.some((pattern) => matches(pattern, file));
}

/** `/regex/`, `/regex/i` or a glob; `!` before it turns it round. */
function matches(written: string, file: string): boolean {
  const pattern = written.replace(/^!+/, "");
  return isMatch(pattern, file) !== ((written.length - pattern.length) % 2 === 1);
}

function isMatch(pattern: string, file: string): boolean {
  const regex = /^\/(.*)\/(i?)$/s.exec(pattern);
  if (regex === null) return globMatcher(pattern, "paths")?.(file) === true;
  return (
    expressionOf(regex[1] ?? "", regex[2] === "i")
      ?.matcher(file)
      .find() === true
  );
}

function expressionOf(text: string, ignoresCase = false): RE2JS | undefined {
  if (text.length > LONGEST_PATTERN) return undefined;
  try {
    const expression = RE2JS.compile(
      text.replaceAll("(?<", "(?P<").replace(/\(\?P<([=!])/g, "(?<$1"),
      ignoresCase ? RE2JS.CASE_INSENSITIVE : 0,
    );
    return expression.programSize() > 20_000 ? undefined : expression;
  } catch {
    return undefined;
  }
}

function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord).slice(0, MOST_PATTERNS) : [];
}

function texts(value: unknown): string[] {
  const list = typeof value === "string" ? [value] : Array.isArray(value) ? value : [];
  return list.filter((one) => typeof one === "string").slice(0, MOST_PATTERNS);
}
