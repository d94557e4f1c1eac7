/**
 * The main script of the single executable: lays the package it carries into the user's cache once a version, and starts it
 * there. The executable is also what runs the files that the program starts as processes of their own.
 */
const { createHash } = require("node:crypto");
const { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { homedir, tmpdir, userInfo } = require("node:os");
const { basename, dirname, join } = require("node:path");
const sea = require("node:sea");
const { setFlagsFromString } = require("node:v8");

/** A folder that is ours alone, or undefined: what somebody else may write to is not run from. */
function usable(folder) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stat = lstatSync(folder);
    return stat.isDirectory() && stat.uid === userInfo().uid && (stat.mode & 0o022) === 0;
  } catch {
    return false;
  }
}

const packed = Buffer.from(sea.getRawAsset("package.json.br"));
const name = createHash("sha256").update(packed).digest("hex").slice(0, 16);

function unpacked() {
  const caches = [process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), process.env.STAGECOACH_DIRECTORY].filter(Boolean);
  const cache = caches.map((folder) => join(folder, "stagecoach", "program")).find(usable) ?? mkdtempSync(join(tmpdir(), "stagecoach-"));
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  const files = JSON.parse(require("node:zlib").brotliDecompressSync(packed).toString("utf8"));
  const partly = mkdtempSync(join(cache, "partly-"));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(partly, path)), { recursive: true });
    writeFileSync(join(partly, path), content);
  }
  chmodSync(partly, 0o700);
  try {
    renameSync(partly, folder);
  } catch (error) {
    // Another process was faster.
    rmSync(partly, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

// What a process of its own is started with: flags for Node, which an executable does not take, and then one of our files.
const at = process.argv.findIndex((arg, index) => index >= 2 && !arg.startsWith("--"));
// A cell is given no environment, so it would not find the folder that the one who starts it found by its own.
const [, beside] = /^(.*)[\\/]lib[\\/]/.exec(at === -1 ? "" : process.argv[at]) ?? [];
const isBeside = beside !== undefined && basename(beside) === name && usable(beside);
const folder = isBeside ? beside : unpacked();
const file = isBeside ? process.argv[at] : join(folder, "stagecoach.mjs");
if (isBeside) for (const flag of process.argv.slice(2, at)) if (flag.startsWith("--max-")) setFlagsFromString(flag);
process.argv.splice(1, isBeside ? at : 1, file);
// Modules of the disk are loaded by one that is there itself.
createRequire(join(folder, "start.cjs"))("./start.cjs")(file);
