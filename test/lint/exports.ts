/**
 * Keeps exports for nobody out of `src/`: each name is imported by some file, and one that tests alone import is used where it stands,
 * or the product carries it for nothing. And keeps splinters out: a file under 40 lines that one file beside it alone imports, and that fits into
 * it, is a part of it (docs/adr/0027). Exits 1 with one line for each. Run by `npm run lint`.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const ROOT = new URL("../../", import.meta.url).pathname;

const EXPORT = /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type) ([\w$]+)/gm;
const FROM = /^(?:import|export)\s(?:type\s)?([^;"]*?)\s?from "(\.[^"]+)"/gm;
const LAZY = /\bimport\(\s*"(\.[^"]+)"\s*\)/g;

const isTest = (file: string) => /^(?!src\/)|\.test\.tsx?$|\/testing(?:\/|\.ts$)/.test(file);
/** What tests may have to themselves: the embedded worlds are what they run in. */
const isForTests = (file: string) => isTest(file) || /^src\/sim(?:ulate)?\//.test(file);

const texts = new Map(
  globSync(["{src,test,deploy}/**/*.{ts,tsx,mjs}"], { cwd: ROOT }).map((file) => [file, readFileSync(join(ROOT, file), "utf8")] as const),
);

/** File → name → files that import it. */
const importers = new Map<string, Map<string, string[]>>();

function note(from: string, specifier: string, names: readonly string[]): void {
  for (const name of names) add(targetOf(from, specifier), name, from);
}

function add(target: string, name: string, from: string): void {
  const names = importers.get(target) ?? new Map<string, string[]>();
  importers.set(target, names.set(name, [...(names.get(name) ?? []), from]));
}

function targetOf(from: string, specifier: string): string {
  return normalize(join(dirname(from), specifier));
}

/** Modules that a file exports again as a whole: whoever imports from it imports from them. */
const again = new Map<string, string[]>();

/** Files that are loaded only where they are asked for. */
const lazily = new Set<string>();

for (const [file, text] of texts) {
  for (const [whole, clause = "", specifier = ""] of text.matchAll(FROM)) {
    if (whole.startsWith("export") && clause.trim() === "*") again.set(file, [...(again.get(file) ?? []), targetOf(file, specifier)]);
    else note(file, specifier, clause.includes("*") ? words(text) : namesIn(clause));
  }
  for (const [, specifier = ""] of text.matchAll(LAZY)) {
    note(file, specifier, words(text));
    lazily.add(targetOf(file, specifier));
  }
}
for (const [file, targets] of again)
  for (const target of targets) for (const [name, froms] of importers.get(file) ?? []) for (const from of froms) add(target, name, from);

function namesIn(clause: string): string[] {
  return clause.split(/[{},]/).map((part) => /^(?:type )?([\w$]*)/.exec(part.trim())?.[1] ?? "");
}

/** Of a module that is imported whole, any word may be one of its names. */
function words(text: string): string[] {
  return [...new Set(text.match(/[\w$]+/g))];
}

const found: string[] = [];
for (const [file, text] of texts) {
  if (!file.startsWith("src/")) continue;
  for (const { 1: name = "", index } of text.matchAll(EXPORT)) {
    const by = importers.get(file)?.get(name) ?? [];
    const at = `${file}:${text.slice(0, index).split("\n").length}`;
    const isUsedHere = text.split(new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}(?![\\w$])`)).length > 2;
    if (by.length === 0) found.push(`${at}: nobody imports ${name}: ${isUsedHere ? "do not export it" : "delete it"}`);
    else if (!isForTests(file) && !isUsedHere && by.every(isTest))
      found.push(`${at}: only tests use ${name}: delete it, or move it to them`);
  }
}
const MOST_LINES = { splinter: 40, file: 250 };
const linesOf = (file: string) => (texts.get(file) ?? "").split("\n").length - 1;
for (const [file, names] of importers) {
  const by = [...new Set([...names.values()].flat())].filter((one) => !isTest(one));
  const [only = ""] = by;
  const isSplinter =
    !isForTests(file) && !lazily.has(file) && by.length === 1 && dirname(only) === dirname(file) && linesOf(file) < MOST_LINES.splinter;
  if (isSplinter && linesOf(file) + linesOf(only) <= MOST_LINES.file)
    found.push(`${file}:1: ${only} alone imports it, and has room for it: join them`);
}
for (const breach of found.sort()) console.error(breach);
console.log(`exports: ${texts.size} files, ${found.length} breaches`);
process.exitCode = found.length === 0 ? 0 : 1;
