import { readFileSync } from "node:fs";

/** `stagecoach version`: the package's version and the Node it runs on. */
export async function run(): Promise<number> {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
  process.stdout.write(`stagecoach ${manifest.version} (Node ${process.versions.node})\n`);
  return 0;
}
