/**
 * Prints the notes of one release from the changelog: `release-notes.ts v0.1.0`. Ends with 1 where the tag is not the version of
 * package.json, the changelog has nothing for it, or something still waits under Unreleased.
 */
import { readFileSync } from "node:fs";

export function releaseNotes(tag: string, version: string, changelog: string): string {
  if (tag !== `v${version}`) throw new Error(`the tag is ${tag}, and package.json says ${version}: they must be the same version`);
  const sections = changelog.split(/^## (?=\[)/m).slice(1);
  const of = (name: string) =>
    sections
      .find((section) => section.startsWith(`[${name}]`))
      ?.replace(/^.*\n/, "")
      .trim();
  if (of("Unreleased")) throw new Error("the changelog still has lines under Unreleased: fold them into the release");
  const notes = of(version);
  if (!notes) throw new Error(`the changelog says nothing under [${version}]`);
  return `${notes}\n`;
}

if (import.meta.main) {
  const at = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");
  const { version } = JSON.parse(at("package.json")) as { version: string };
  process.stdout.write(releaseNotes(process.argv[2] ?? "", version, at("CHANGELOG.md")));
}
