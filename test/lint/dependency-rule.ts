/**
 * Keeps the dependency rule of docs/adr/0014: arrows run down only, from surfaces over the engine and the adapters' ports to the core;
 * inside of the core from `report/` down to `base/`. Nothing but the CLI and tests imports `sim/`. Exits 1 with one line a breach.
 * Run by `npm run lint`; circles of files are found by Biome's `noImportCycles`.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Pure libraries the core may use: no IO in them. */
const PURE_PACKAGES = new Set(["zod", "yaml", "semver", "croner", "@noble/hashes", "re2js", "fastest-levenshtein"]);

/** Room → rooms below it. A room is a storey, or a folder of the core or of the adapters. */
const BELOW: Record<string, readonly string[]> = {
  "core/base": [],
  "core/pins": ["core/base", "core/reasons"],
  "core/gotemplate": ["core/base", "core/reasons"],
  "core/appset": ["core/base", "core/reasons", "core/gotemplate"],
  "core/reasons": ["core/base"],
  "core/spec": ["core/base", "core/reasons"],

  "core/analysis": ["core/base", "core/reasons", "core/spec"],
  "core/plan": ["core/base", "core/reasons", "core/spec"],
  "core/run": ["core/base", "core/reasons", "core/spec", "core/plan"],
  "core/argocd": ["core/base", "core/reasons", "core/spec", "core/plan", "core/run"],
  "core/report": ["core/base", "core/reasons", "core/spec", "core/plan", "core/run", "core/argocd", "core/analysis"],
  "adapters/outbound": ["core/base", "core/reasons"],
  "adapters/hooks": ["core", "adapters/outbound"],
  "adapters/notify": ["core", "adapters/outbound"],
  "adapters/analysis": ["core", "adapters/outbound"],
  "adapters/argocd": ["core", "adapters/outbound"],
  "adapters/forge": ["core", "adapters/git"],
  "adapters/git": ["core", "adapters/outbound"],
  "adapters/queue": ["core", "adapters/outbound"],
  "adapters/cell": ["core", "adapters/git", "adapters/forge"],
  simulate: ["core"],
  engine: ["core", "adapters"],
  sim: ["core", "adapters", "engine", "surfaces/server", "surfaces/web"],
  "surfaces/web": ["core", "adapters", "engine"],
  "surfaces/server": ["core", "adapters", "engine", "surfaces/web"],
  "surfaces/cli": ["core", "adapters", "engine", "surfaces/web", "surfaces/server", "simulate", "sim"],
};

/** The engine knows the outside by its ports alone, and so does an adapter another adapter that it works with. */
const PORT = /^adapters\/\w+\/(?:[\w-]+\/)?(?:[\w-]+-)?port\.ts$/;

function roomOf(path: string): string {
  const [storey = "", room = ""] = path.split("/");
  return ["core", "adapters", "surfaces"].includes(storey) ? `${storey}/${room}` : storey;
}

function isBelow(here: string, there: string): boolean {
  return (BELOW[here] ?? []).some((room) => there === room || there.startsWith(`${room}/`));
}

function breachesOf(file: string): string[] {
  const text = readFileSync(join(ROOT, "src", file), "utf8");
  const isTest = /\.test\.tsx?$/.test(file) || file.includes("/testing/");
  const found: string[] = [];
  for (const [, fixed, lazy] of text.matchAll(/\b(?:from|import)\s+"([^"\n;]+)"|\bimport\(\s*"([^"\n]+)"\s*\)/g)) {
    const specifier = fixed ?? lazy ?? "";
    const problem = isTest ? undefined : judge(file, specifier);
    const line = text.slice(0, text.indexOf(`"${specifier}"`)).split("\n").length;
    if (problem !== undefined) found.push(`src/${file}:${line}: ${problem}`);
  }
  return found;
}

function judge(file: string, specifier: string): string | undefined {
  const here = roomOf(file);
  if (!specifier.startsWith(".")) {
    const name = specifier.startsWith("@") ? specifier.split("/").slice(0, 2).join("/") : (specifier.split("/")[0] ?? "");
    return here.startsWith("core/") && !PURE_PACKAGES.has(name) ? `${here}/ is pure: it may not import "${specifier}"` : undefined;
  }
  const target = relative(join(ROOT, "src"), normalize(join(ROOT, "src", dirname(file), specifier)));
  const there = roomOf(target);
  if (target.startsWith("..")) return `src/ may not import "${specifier}" from outside it`;
  if (there === here) return undefined;
  if (!isBelow(here, there)) return `${here}/ may not import ${there}/`;
  if ((here === "engine" || here === "adapters/forge") && there.startsWith("adapters/") && !PORT.test(target))
    return `${here}/ knows ${there}/ by its port: it may not import ${target}`;
  return undefined;
}

/** The core awaits nothing and asks no clock: its tests give it data and look at data. */
function impurities(file: string): string[] {
  if (!file.startsWith("core/") || file.endsWith(".test.ts") || file.includes("/testing/")) return [];
  const lines = readFileSync(join(ROOT, "src", file), "utf8").split("\n");
  return lines.flatMap((line, index) =>
    /^\s*(?:\*|\/\/|\/\*)/.test(line) || !/\bawait\b|\basync\b|\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(/.test(line)
      ? []
      : [`src/${file}:${index + 1}: core/ is pure: no await, no clock, no chance`],
  );
}

const files = globSync("**/*.{ts,tsx}", { cwd: join(ROOT, "src") }).sort();
const all = files.flatMap((file) => [...breachesOf(file), ...impurities(file)]);
for (const breach of all) console.error(breach);
console.log(`dependency rule: ${files.length} files, ${all.length} breaches`);
process.exitCode = all.length === 0 ? 0 : 1;
