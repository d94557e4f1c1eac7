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
  "surfaces/server": ["core", "adapters", "engine", "surfaces/web", "simulate"],
  "surfaces/cli": ["core", "adapters", "engine", "surfaces/web", "surfaces/server", "simulate", "sim"],
};

/**
 * The rooms of `core/run`, from the ground up: each may import those before it. So a gate judges and can change no batch, and what a batch
 * does hangs on no command. What stands in `core/run` itself is above all of them.
 */
const RUN = ["state", "targets", "outcome", "checks", "gates", "batches", "commands"];

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
  if (there === here) return here === "core/run" ? judgeRun(file, target) : undefined;
  if (!isBelow(here, there)) return `${here}/ may not import ${there}/`;
  if ((here === "engine" || here === "adapters/forge") && there.startsWith("adapters/") && !PORT.test(target))
    return `${here}/ knows ${there}/ by its port: it may not import ${target}`;
  return undefined;
}

function judgeRun(file: string, target: string): string | undefined {
  const [from = "", to = ""] = [file, target].map((path) => path.split("/")[2]);
  const isWithin = RUN.includes(from) ? RUN.slice(0, RUN.indexOf(from) + 1).includes(to) : true;
  return isWithin ? undefined : `core/run/${from}/ may not import core/run/${to}`;
}

/** What opens connections, by package or global: no other file may, so each way out is looked at, bounded and redirected nowhere. docs/security.md. */
const WAYS_OUT = /^(?:undici|node:(?:net|tls|http|https|http2|dgram|dns)|nodemailer|pg|ws|@octokit\/rest|@opentelemetry\/exporter-.*)$/;
const MAY_GO_OUT: ReadonlySet<string> = new Set([
  // Where a config repo, or a destination of notifications, asks to go.
  ...["adapters/outbound/outbound.ts", "adapters/notify/mail.ts"],
  // Argo CD and Kubernetes, at the operator's addresses.
  ...["adapters/argocd/wire/http.ts", "adapters/argocd/api/client.ts"],
  // GitHub.
  ...["surfaces/server/tenancy/octokits.ts", "adapters/git/upload-pack.ts", "adapters/forge/github/comment-as.ts"],
  // Traces, where the operator's variables say; PostgreSQL.
  ...["surfaces/server/telemetry/otel.ts", "adapters/queue/postgres/database.ts"],
]);
/** Names of them that open nothing. */
const OPENS_NOTHING: ReadonlySet<string> = new Set(["isIP", "BlockList", "createServer"]);

function waysOut(file: string): string[] {
  const isOutside = /^(?:core|engine|adapters|surfaces\/(?:server|web))\//.test(file) && !file.startsWith("surfaces/web/client/");
  if (!isOutside || /\.test\.tsx?$|\/testing(?:\/|\.ts$)/.test(file) || MAY_GO_OUT.has(file)) return [];
  const text = readFileSync(join(ROOT, "src", file), "utf8");
  const found = [
    ...text.matchAll(/\bimport\s+(?!type\b)(?:\{([^}]*)\}|[^"{]*?)\s*from\s+"([^"\n]+)"|\bimport\(\s*"([^"\n]+)"\s*\)/g),
  ].flatMap(([, names, fixed, lazy]) => {
    const taken = names?.split(",").map((name) => name.trim());
    const isHarmless = taken?.every((name) => name === "" || name.startsWith("type ") || OPENS_NOTHING.has(name)) === true;
    return WAYS_OUT.test(fixed ?? lazy ?? "") && !isHarmless ? [fixed ?? lazy ?? ""] : [];
  });
  // Neither a method that is declared nor a parameter of that name.
  const code = text.replace(/^\s*(?:\*|\/\/|(?:async )?fetch\((?:\w+\??:|\):)).*$/gm, "");
  if (!/[{,(]\s*fetch\s*[,:}]|(?:const|function) fetch\b/.test(code) && /(?<![.\w])fetch\(/.test(code)) found.push("fetch");
  return found.map((one) => `src/${file}: it opens connections by ${one}, which the files that docs/security.md names do alone`);
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
const all = files.flatMap((file) => [...breachesOf(file), ...impurities(file), ...waysOut(file)]);
for (const breach of all) console.error(breach);
console.log(`dependency rule: ${files.length} files, ${all.length} breaches`);
process.exitCode = all.length === 0 ? 0 : 1;
