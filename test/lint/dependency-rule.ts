/**
 * Keeps the dependency rule: the core imports only itself, adapters depend on ports, ports on the core, and nothing but
 * `cli/` and tests imports `sim/`. Exits 1 with one line a breach. Run by `npm run lint`.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Pure libraries the core may use: no IO in them. */
const PURE_PACKAGES = new Set(["zod", "yaml", "semver", "croner", "@noble/hashes"]);

/** Room → rooms it may import besides itself. */
const ALLOWED: Record<string, readonly string[]> = {
  rollout: [],
  pins: [],
  appset: [],
  git: ["rollout"],
  forge: ["rollout"],
  argocd: ["rollout", "appset"],
  queue: ["rollout"],
  analysis: ["rollout"],
  hooks: ["rollout", "analysis"],
  init: ["rollout", "pins", "appset", "argocd", "git"],
  report: ["rollout"],
  reconcile: ["rollout", "pins", "appset", "git", "forge", "argocd", "queue", "analysis", "hooks", "report"],
  bot: ["rollout", "pins", "appset", "reconcile", "git", "forge", "argocd", "queue", "analysis", "hooks", "init", "report", "web"],
  web: ["rollout", "git", "report"],
  cli: [
    "rollout",
    "pins",
    "appset",
    "reconcile",
    "git",
    "forge",
    "argocd",
    "queue",
    "analysis",
    "hooks",
    "init",
    "report",
    "bot",
    "web",
    "sim",
  ],
  sim: ["rollout", "pins", "appset", "git", "forge", "argocd", "reconcile", "report", "queue", "bot", "web"],
};
const CORE = new Set(["rollout", "pins", "appset"]);
/** The loop knows the outside by its ports alone, and may use the pure decisions that stand beside them. */
const RECONCILE_MAY_IMPORT =
  /^(git\/(port|journal-port|names)|forge\/(port|branch-name|pull-title)|argocd\/(port|liveness|change-for|decode-source|decode-cluster|same)|queue\/port|analysis\/(port|service|request|repo-templates|lint)|hooks\/(port|event)|report\/[\w-]+|rollout\/[\w-]+|pins\/[\w-]+|appset\/[\w-]+)\.ts$/;

/** Hooks go out by the same guarded way as measurements, and know nothing else of them. */
const HOOKS_MAY_IMPORT = /^(analysis\/outbound|rollout\/[\w-]+)\.ts$/;

function room(path: string): string {
  return path.split("/")[0] ?? "";
}

function breaches(file: string): string[] {
  const text = readFileSync(join(ROOT, "src", file), "utf8");
  const found: string[] = [];
  const here = room(file);
  const isTest = file.endsWith(".test.ts") || file.includes("/testing/");
  for (const [, fixed, lazy] of text.matchAll(/\b(?:from|import)\s+"([^"\n;]+)"|\bimport\(\s*"([^"\n]+)"\s*\)/g)) {
    const specifier = fixed ?? lazy ?? "";
    const line = text.slice(0, text.indexOf(`"${specifier}"`)).split("\n").length;
    const problem = judge(file, here, specifier, isTest);
    if (problem !== undefined) found.push(`src/${file}:${line}: ${problem}`);
  }
  return found;
}

function judge(file: string, here: string, specifier: string, isTest: boolean): string | undefined {
  if (!specifier.startsWith(".")) {
    const name = specifier.startsWith("@") ? specifier.split("/").slice(0, 2).join("/") : (specifier.split("/")[0] ?? "");
    return CORE.has(here) && !isTest && !PURE_PACKAGES.has(name) ? `${here}/ is pure: it may not import "${specifier}"` : undefined;
  }
  const target = relative(join(ROOT, "src"), normalize(join(ROOT, "src", dirname(file), specifier)));
  const there = room(target);
  if (target.startsWith("..")) return isTest ? undefined : `src/ may not import "${specifier}" from outside it`;
  if (there === here || isTest) return undefined;
  if (!(ALLOWED[here] ?? []).includes(there)) return `${here}/ may not import ${there}/`;
  if (here === "hooks" && !HOOKS_MAY_IMPORT.test(target)) return `hooks/ may not import ${target}`;
  if (here === "reconcile" && !RECONCILE_MAY_IMPORT.test(target))
    return `reconcile/ knows ${there}/ by its port: it may not import ${target}`;
  return undefined;
}

const files = globSync("**/*.ts", { cwd: join(ROOT, "src") }).sort();
const all = files.flatMap(breaches);
for (const breach of all) console.error(breach);
console.log(`dependency rule: ${files.length} files, ${all.length} breaches`);
process.exitCode = all.length === 0 ? 0 : 1;
