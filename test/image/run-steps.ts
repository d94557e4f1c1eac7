/**
 * Runs the very steps of the Dockerfile in a clean folder, where there is no container engine: COPY takes what .dockerignore
 * lets through, RUN runs, and in the end the program of the last stage is started as the image would start it. Steps
 * that install packages of the distribution are left out and said. `node test/image/run-steps.ts`; takes minutes.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { dockerContext, type Instruction, readDockerfile } from "./dockerfile.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const clean = mkdtempSync(join(tmpdir(), "stagecoach-image-"));
const taken = dockerContext(readFileSync(join(ROOT, ".dockerignore"), "utf8"));
const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" }).split("\0").filter(taken);
const roots = new Map<string, string>();
let failed = false;

function run(root: string, workdir: string, instruction: Instruction): void {
  if (/\bapt-get\b/.test(instruction.text)) {
    console.log(`left out  line ${instruction.line}: ${instruction.text.slice(0, 60)}…`);
    return;
  }
  console.log(`RUN       ${instruction.text}`);
  execFileSync("sh", ["-c", instruction.text], { cwd: join(root, workdir), stdio: "inherit" });
}

function copy(root: string, workdir: string, text: string): void {
  const words = text.split(/\s+/);
  const from = words.find((word) => word.startsWith("--from="))?.slice("--from=".length);
  const paths = words.filter((word) => !word.startsWith("--"));
  const target = paths.pop() ?? ".";
  for (const path of paths) {
    const place = join(root, workdir, target, target.endsWith("/") ? (path.split("/").at(-1) ?? "") : "");
    if (from === undefined) copyFromContext(path, place);
    else cpSync(join(roots.get(from) ?? "", path), place, { recursive: true });
  }
}

function copyFromContext(path: string, place: string): void {
  const files = tracked.filter((file) => file === path || file.startsWith(`${path}/`));
  if (files.length === 0) throw new Error(`COPY ${path}: the context has no such file`);
  for (const file of files) {
    const to = join(place, file.slice(path.length));
    mkdirSync(dirname(to), { recursive: true });
    cpSync(join(ROOT, file), to);
  }
}

let program: string[] = [];
let workdir = "/";
let root = "";
for (const [index, stage] of readDockerfile(join(ROOT, "Dockerfile")).entries()) {
  root = join(clean, stage.name === "" ? `stage-${index}` : stage.name);
  mkdirSync(root, { recursive: true });
  roots.set(stage.name, root);
  workdir = "/";
  for (const instruction of stage.instructions) {
    if (instruction.name === "WORKDIR") {
      workdir = instruction.text;
      mkdirSync(join(root, workdir), { recursive: true });
    }
    if (instruction.name === "COPY") copy(root, workdir, instruction.text);
    if (instruction.name === "RUN") run(root, workdir, instruction);
    if (instruction.name === "ENTRYPOINT") program = JSON.parse(instruction.text) as string[];
  }
}

const [command = "", ...args] = program;
for (const [asked, code, words] of [
  [["version"], 0, /^stagecoach \d/],
  // In an image nobody can press the button of the set-up page.
  [["serve"], 2, /there is no APP_ID/],
] as const) {
  const env = { PATH: process.env["PATH"], NODE_ENV: "production", STAGECOACH_DIRECTORY: join(clean, "mirrors") };
  const result = spawnSync(command, [...args, ...asked], { cwd: join(root, workdir), env, encoding: "utf8" });
  console.log(`${asked.join(" ")}: exit ${result.status}\n${result.stdout}${result.stderr}`.trim());
  failed ||= result.status !== code || !words.test(result.stdout + result.stderr);
}
const bytes = globSync("**", { cwd: join(root, workdir) }).reduce((sum, file) => sum + statSync(join(root, workdir, file)).size, 0);
console.log(`the program and its packages: ${(bytes / 1024 / 1024).toFixed(0)} MiB`);
rmSync(clean, { recursive: true, force: true });
process.exitCode = failed ? 1 : 0;
