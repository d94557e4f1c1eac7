/**
 * Builds the package that is published: the program and what it uses of its libraries, bundled, and the few files it
 * reads. Nothing is left to install, and a command loads only what it needs.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type OutputChunk, type Plugin, rolldown } from "rolldown";
import { bundlePage } from "../../src/surfaces/web/page.ts";
import { BILL, billOfMaterials, componentsOf, LICENCES, librariesOf, licenceCounts, licenceTexts } from "./libraries.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Where to; the folder given is made anew. */
const DIST = resolve(process.argv[2] ?? join(ROOT, "dist"));
/** What the program reads beside itself, or a user takes from it. */
const FILES = [
  ...["app.yml", "rollouts", "schema", "fixtures/fleet", "README.md", "CHANGELOG.md"],
  ...globSync("docs/*.md", { cwd: ROOT }),
  ...["docs/reference", "docs/stills"],
];
/** Where the page's files lie in the source and, built, in the package. */
const PAGE = { source: "src/surfaces/web/client", packed: "page" };
/** Kubernetes' client says nowhere that its thousand modules do nothing but declare: those that are not used are left out. */
const ONLY_DECLARES = /[\\/]node_modules[\\/]@kubernetes[\\/]client-node[\\/]/;
/** How the source names a file that it starts as a thread or process of its own; it is `.js` once it is bundled. */
const STARTED_BESIDE = /"\.\/([\w-]+)\.ts" : "\.\/\1\.js"/g;

/** Which commit this is, and when it was made; of a folder without Git's history only what the environment says. */
function commitOf(): { commit?: string; date?: string } {
  const { STAGECOACH_COMMIT: commit, STAGECOACH_COMMIT_DATE: date } = process.env;
  if (commit) return { commit, ...(date ? { date } : undefined) };
  const { status, stdout } = spawnSync("git", ["log", "-1", "--format=%H %cI"], { cwd: ROOT, encoding: "utf8" });
  const [found, at] = status === 0 ? stdout.trim().split(" ") : [];
  return found && at ? { commit: found, date: at } : {};
}

interface PackageJson {
  name: string;
  version: string;
  description: string;
}

/** As in `stagecoach.mjs`: what is started beside it begins without it. */
const OLDER = 'Number(process.versions.node.split(".")[0]) < 22';

/** Addresses of files beside the source, as they lie in the package: all code is in one folder there. */
function placesInPackage(entries: ReadonlySet<string>): Plugin {
  return {
    name: "places-in-package",
    transform(code, id) {
      if (!id.startsWith(join(ROOT, "src"))) return null;
      const begun = entries.has(id) ? `if (${OLDER}) await import(${JSON.stringify(join(ROOT, "deploy/package/older-node.js"))});\n` : "";
      return (
        begun +
        code.replace(/new URL\("(\.[^"]+)", import\.meta\.url\)/g, (_, to: string) => {
          const place = relative(ROOT, resolve(dirname(id), to))
            .split(sep)
            .join("/");
          if (dirname(place) === PAGE.source) return `new URL("../${PAGE.packed}/${basename(place)}", import.meta.url)`;
          const packed = place === "package.json" || FILES.some((file) => place === file || place.startsWith(`${file}/`));
          if (!packed) throw new Error(`${relative(ROOT, id)} reads ${place}, which the package does not hold`);
          return `new URL("../${place}${to.endsWith("/") ? "/" : ""}", import.meta.url)`;
        })
      );
    },
  };
}

function startedBeside(): Record<string, string> {
  const entries: Record<string, string> = {};
  for (const file of globSync("src/**/*.ts", { cwd: ROOT, exclude: ["**/*.test.ts"] })) {
    for (const [, name = ""] of readFileSync(join(ROOT, file), "utf8").matchAll(STARTED_BESIDE)) {
      if (entries[name] !== undefined) throw new Error(`two files called ${name} are started beside the program`);
      entries[name] = join(dirname(file), `${name}.ts`);
    }
  }
  return entries;
}

async function bundle(): Promise<OutputChunk[]> {
  const beside = startedBeside();
  const build = await rolldown({
    cwd: ROOT,
    input: { main: "src/surfaces/cli/main.ts", "older-node": "deploy/package/older-node.js", ...beside },
    platform: "node",
    // What only a clone does: the package has the page as a file.
    external: ["rolldown"],
    transform: { target: "node20" },
    treeshake: { moduleSideEffects: [{ test: ONLY_DECLARES, sideEffects: false }] },
    plugins: [placesInPackage(new Set(Object.values(beside).map((file) => join(ROOT, file))))],
    // Libraries' circles and evals are not ours to mend; anything else is.
    onLog: (level, log) => {
      if (level === "warn" && log.code !== "EVAL" && log.code !== "CIRCULAR_DEPENDENCY") throw new Error(log.message);
    },
  });
  const { output } = await build.write({
    dir: join(DIST, "lib"),
    format: "esm",
    sourcemap: false,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
  });
  return output.filter((one) => one.type === "chunk");
}

const own = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as PackageJson;
rmSync(DIST, { recursive: true, force: true });
mkdirSync(DIST);
const page = await bundlePage();
const chunks = [...(await bundle()), page];
mkdirSync(join(DIST, PAGE.packed));
writeFileSync(join(DIST, PAGE.packed, "page.js"), page.code);
cpSync(join(ROOT, PAGE.source, "page.css"), join(DIST, PAGE.packed, "page.css"));
for (const file of FILES) cpSync(join(ROOT, file), join(DIST, file), { recursive: true });
cpSync(join(ROOT, "deploy/package/stagecoach.mjs"), join(DIST, "stagecoach.mjs"));
chmodSync(join(DIST, "stagecoach.mjs"), 0o755);
const libraries = librariesOf(
  chunks.flatMap(({ moduleIds }) => moduleIds),
  ROOT,
);
const build = commitOf();
const { name, version, description } = own;
writeFileSync(join(DIST, LICENCES), licenceTexts(libraries));
const { commit, date } = build;
const properties = commit === undefined ? [] : [{ name: "stagecoach:commit", value: commit }];
const about = { type: "application", name, version, description, properties } as const;
const timestamp = date === undefined ? undefined : new Date(date).toISOString();
writeFileSync(join(DIST, BILL), billOfMaterials({ timestamp, component: about }, componentsOf(libraries)));
console.log(licenceCounts(libraries));
const packed = {
  name,
  version,
  description,
  build,
  type: "module",
  bin: { stagecoach: "stagecoach.mjs" },
  engines: { node: ">=20.18.0" },
  files: ["lib", PAGE.packed, ...FILES, LICENCES, BILL],
};
writeFileSync(join(DIST, "package.json"), `${JSON.stringify(packed, null, 2)}\n`);
