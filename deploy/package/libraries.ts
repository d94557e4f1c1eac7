/**
 * What of others is in the package: each library with its licence, for the reader (THIRD-PARTY-LICENSES.txt) and for scanners (a CycloneDX
 * bill of materials). Called by `build.ts` and `executables.ts`. Keeps true: nothing under another licence than these is ever bundled.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";

/** MIT-0 asks for less than MIT. */
const ALLOWED: ReadonlySet<string> = new Set(["MIT", "MIT-0", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC"]);

/** What of others is in the package, to read and for scanners: names of its files. */
export const LICENCES = "THIRD-PARTY-LICENSES.txt";
export const BILL = "stagecoach.cdx.json";

export interface Library {
  name: string;
  version: string;
  /** SPDX identifier. */
  licence: string;
  /** As the lock file has it: `sha512-…`. */
  integrity?: string | undefined;
  /** Of its licence and its notices. */
  texts: readonly string[];
}

/** The libraries that the modules of a bundle are from, by name. Throws where one has a licence that is not allowed, or does not say. */
export function librariesOf(modules: readonly string[], root: string): Library[] {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { integrity?: string } | undefined>;
  };
  const folders = new Set<string>();
  for (const id of modules) {
    const found = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id.split(sep).join("/"))?.[1];
    if (found !== undefined && existsSync(join(found, "package.json"))) folders.add(found);
  }
  const found = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, unknown>;
    const files = globSync("{LICEN[SC]E,licen[sc]e,COPYING,NOTICE}*", { cwd: folder }).sort();
    const { integrity } = packages[folder.slice(folder.indexOf("/node_modules/") + 1)] ?? {};
    const texts = files.map((file) => readFileSync(join(folder, file), "utf8").trim());
    return { name: String(name), version: String(version), licence: String(license), integrity, texts };
  });
  refuseOthers(found);
  return found;
}

function refuseOthers(libraries: readonly Library[]): void {
  const others = libraries
    .filter(({ licence }) => !ALLOWED.has(licence))
    .map(({ name, version, licence }) => `${name} ${version} (${licence})`);
  if (others.length === 0) return;
  throw new Error(
    `the package may hold what is under ${[...ALLOWED].join(", ")}, and would hold ${others.join(", ")}: leave it out, or replace it`,
  );
}

/** The text that goes with the code: what each licence asks for. */
export function licenceTexts(libraries: readonly Library[]): string {
  return libraries
    .map(({ name, version, licence, texts }) => [`${name} ${version} (${licence})\n`, ...texts].join("\n").concat("\n"))
    .join(`\n${"-".repeat(80)}\n\n`);
}

/** `191 libraries: 153 MIT, 18 Apache-2.0`. */
export function licenceCounts(libraries: readonly Library[]): string {
  const counts = Object.entries(Object.groupBy(libraries, ({ licence }) => licence)).map(([licence, of = []]) => ({
    licence,
    of: of.length,
  }));
  const told = counts.sort((a, b) => b.of - a.of || a.licence.localeCompare(b.licence)).map(({ licence, of }) => `${of} ${licence}`);
  return `${libraries.length} libraries: ${told.join(", ")}`;
}

interface Component {
  type: "library" | "platform";
  "bom-ref": string;
  name: string;
  version: string;
  purl: string;
  licenses: { license: { id: string } }[];
  hashes?: { alg: "SHA-512"; content: string }[];
}

interface About {
  /** Of the commit: the same commit gives the same bill. */
  timestamp?: string | undefined;
  component: { type: "application"; name: string; version: string; description: string; properties?: readonly object[] };
}

/** A bill of materials of one thing that is published, by CycloneDX 1.6. */
export function billOfMaterials({ timestamp, component }: About, components: readonly Component[]): string {
  const ref = `pkg:npm/${component.name}@${component.version}`;
  const bom = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { timestamp, component: { ...component, "bom-ref": ref, purl: ref } },
    components,
    dependencies: [{ ref, dependsOn: components.map((one) => one["bom-ref"]) }, ...components.map((one) => ({ ref: one["bom-ref"] }))],
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}

export function componentsOf(libraries: readonly Library[]): Component[] {
  return libraries.map(({ name, version, licence, integrity }) => {
    const purl = `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
    const content = integrity?.startsWith("sha512-") ? Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex") : undefined;
    return {
      type: "library",
      "bom-ref": purl,
      name,
      version,
      purl,
      licenses: [{ license: { id: licence } }],
      ...(content === undefined ? {} : { hashes: [{ alg: "SHA-512" as const, content }] }),
    };
  });
}
