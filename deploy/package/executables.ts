/**
 * Builds the single-file executables for Linux from the package in `dist/`: Node, and beside it what `stagecoach.mjs`
 * starts. Node's own builder does it, from Nodes as the registry has them.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { CELL_LIMITS, openCell } from "../../src/adapters/cell/cell.ts";
import { BILL, billOfMaterials, LICENCES } from "./libraries.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** The first whose builder needs no tool beside it is 25.5. */
const NODE = "26.10.0";
/** Of the registry's tarballs: what was looked at is what is built in. */
const INTEGRITY = {
  x64: "sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==",
  arm64: "sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==",
} as const;

type Arch = keyof typeof INTEGRITY;

/** The program of a Node, with its licence beside it, fetched once. Throws where it is another than the one pinned. */
function nodeFor(arch: Arch, cache: string): { program: string; licence: string } {
  const licence = join(cache, `node-${NODE}-${arch}`, "package/LICENSE");
  const node = { program: join(cache, `node-${NODE}-${arch}`, "package/bin/node"), licence };
  if (existsSync(licence)) return node;
  const folder = join(cache, `node-${NODE}-${arch}`);
  mkdirSync(folder, { recursive: true });
  const tarball = execFileSync("npm", ["pack", "--silent", `node-linux-${arch}@${NODE}`], { cwd: folder, encoding: "utf8" }).trim();
  const found = `sha512-${createHash("sha512")
    .update(readFileSync(join(folder, tarball)))
    .digest("base64")}`;
  if (found !== INTEGRITY[arch]) throw new Error(`node-linux-${arch}@${NODE} is ${found}, and not ${INTEGRITY[arch]}`);
  execFileSync("tar", ["-xzf", tarball, "package/bin/node", "package/LICENSE"], { cwd: folder });
  rmSync(join(folder, tarball));
  return node;
}

/** All files of the package, and Node's licence with those of the libraries, as one compressed JSON text: path to content. They are texts, all of them. */
function packed(dist: string, licence: string): Buffer {
  const paths = globSync("**", { cwd: dist }).filter((path) => statSync(join(dist, path)).isFile());
  const files = Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(dist, path), "utf8")]));
  files[LICENCES] = `${files[LICENCES]}\n${"-".repeat(80)}\n\nNode.js ${NODE}\n\n${readFileSync(licence, "utf8")}`;
  files["start.cjs"] = 'module.exports = (file) => import(require("node:url").pathToFileURL(file).href);\n';
  return brotliCompressSync(JSON.stringify(files), { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
}

/** What is in an executable: what the package says of itself, and Node. */
function bill(dist: string): string {
  const { metadata, components } = JSON.parse(readFileSync(join(dist, BILL), "utf8"));
  const purl = `pkg:generic/node@${NODE}`;
  const cpe = `cpe:2.3:a:nodejs:node.js:${NODE}:*:*:*:*:*:*:*`;
  const node = { type: "platform", "bom-ref": purl, name: "node", version: NODE, purl, cpe, licenses: [{ license: { id: "MIT" } }] };
  return billOfMaterials(metadata, [...components, node]);
}

/** What it says of its version. Throws where it does not start its own cell, which is given nothing of its environment. */
async function tried(output: string): Promise<string> {
  const env = { ...process.env, XDG_CACHE_HOME: join(scratch, "cache") };
  const said = execFileSync(output, ["version"], { encoding: "utf8", env }).trim();
  const [inside] = globSync(join(scratch, "cache/stagecoach/program/*/lib/inside.js"));
  const cell = openCell(pathToFileURL(inside ?? ""), CELL_LIMITS, output);
  const outcome = await cell.run({ name: "nothing", input: null, answers: {} });
  cell.close();
  if (outcome.kind === "failed" && outcome.said.includes("no job is called nothing")) return said;
  throw new Error(`${output} does not start its cell: ${JSON.stringify(outcome)}`);
}

const dist = join(ROOT, "dist");
const executables = join(dist, "executables");
const asked = process.argv.slice(2) as Arch[];
const arches = asked.length > 0 ? asked : (Object.keys(INTEGRITY) as Arch[]);
execFileSync(process.execPath, [join(ROOT, "deploy/package/build.ts"), dist], { stdio: "inherit" });
const scratch = mkdtempSync(join(tmpdir(), "stagecoach-executables-"));
const cache = join(ROOT, "node_modules/.cache/stagecoach");
const builder = nodeFor(process.arch === "arm64" ? "arm64" : "x64", cache);
writeFileSync(join(scratch, "package.json.br"), packed(dist, builder.licence));
mkdirSync(executables);
writeFileSync(join(executables, "stagecoach-executables.cdx.json"), bill(dist));
for (const arch of arches) {
  const output = join(executables, `stagecoach-linux-${arch}`);
  const config = join(scratch, `${arch}.json`);
  const sea = {
    main: join(ROOT, "deploy/package/unpack.cjs"),
    executable: nodeFor(arch, cache).program,
    output,
    disableExperimentalSEAWarning: true,
    execArgvExtension: "none",
    assets: { "package.json.br": join(scratch, "package.json.br") },
  };
  writeFileSync(config, JSON.stringify(sea));
  execFileSync(builder.program, ["--build-sea", config], { stdio: "inherit" });
  const ran = arch === process.arch ? `; it says: ${await tried(output)}` : "";
  console.log(`dist/executables/stagecoach-linux-${arch}: ${Math.round(statSync(output).size / 2 ** 20)} MiB${ran}`);
}
rmSync(scratch, { recursive: true, force: true });
