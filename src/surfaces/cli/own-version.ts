import { readFileSync } from "node:fs";

/** Which version of Stagecoach this is. */
export function ownVersion(): string {
  return (JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as { version: string }).version;
}
