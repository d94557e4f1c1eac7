/**
 * Runs a TypeScript file with a Node that can: the one at hand where it is new enough, else the one that came with the
 * packages. Not every npm links that one's `node` into the path (npm 10 does not), so it is looked for by its place.
 * Plain JavaScript, since it must start on any Node.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath, pathToFileURL } from "node:url";

const [file = "", ...args] = process.argv.slice(2);
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

function carried() {
  const platform = process.platform === "win32" ? "win" : process.platform;
  const program = process.platform === "win32" ? "bin/node.exe" : "bin/node";
  for (const prefix of ["node", "node-bin"]) {
    const path = fileURLToPath(new URL(`../../../node_modules/${prefix}-${platform}-${process.arch}/${program}`, import.meta.url));
    if (existsSync(path)) return path;
  }
  return undefined;
}

if (major > 22 || (major === 22 && minor >= 18)) {
  process.argv.splice(1, 2, file);
  await import(pathToFileURL(file).href);
} else {
  const node = carried();
  if (node === undefined) {
    console.error(
      `stagecoach: this is Node ${process.versions.node}, and none that fits came with the packages; install Node 22.18 or newer, or run npm ci`,
    );
    process.exit(3);
  }
  const child = spawn(node, [file, ...args], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal ?? "SIGTERM"] ?? 15)));
}
