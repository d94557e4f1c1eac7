import { readFileSync } from "node:fs";

interface OwnPackage {
  version: string;
  /** Only in a built package: the commit it was built from, and when that was made. */
  build?: { commit?: string; date?: string };
}

function ownPackage(): OwnPackage {
  return JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as OwnPackage;
}

/** Which version of Stagecoach this is. */
export function ownVersion(): string {
  return ownPackage().version;
}

/** The version, and of a built package the commit and its date. */
export function ownBuild(): { version: string; commit?: string; date?: string } {
  const { version, build } = ownPackage();
  return { version, ...build };
}
