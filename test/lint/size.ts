/**
 * Keeps files and functions small enough to be read at a glance: in `src/` a file has at most 250 lines, a test 500, and the body of a
 * function 40; with all functions that are declared in it, 60. A folder has at most 30 files of its own besides tests, and the product 20
 * spreads of `{}` (docs/adr/0027). Exits 1 with one line for each that is over. Run by `npm run lint`.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Node, SourceFile } from "typescript/unstable/ast";
import {
  isArrowFunction,
  isBlock,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isMethodDeclaration,
} from "typescript/unstable/ast/is";
import { API, type Project } from "typescript/unstable/sync";

const ROOT = new URL("../../", import.meta.url).pathname;
const MOST = { file: 250, test: 500, body: 40, whole: 60, folder: 30, spreads: 20 };

function breachesOf(file: string, projects: readonly Project[]): string[] {
  const isTest = /\.test\.tsx?$/.test(file);
  const text = readFileSync(join(ROOT, file), "utf8");
  const lines = text.split("\n").length - 1;
  const most = isTest ? MOST.test : MOST.file;
  const found = lines > most ? [`${file}:${most + 1}: ${lines} lines, at most ${most} in one file`] : [];
  const source =
    isTest || file.startsWith("test/")
      ? undefined
      : projects.map(({ program }) => program.getSourceFile(join(ROOT, file))).find((one) => one !== undefined);
  return source === undefined ? found : [...found, ...longFunctions(source, file)];
}

function longFunctions(source: SourceFile, file: string): string[] {
  const found: string[] = [];
  const starts = lineStarts(source.text);
  /** Lines of functions declared inside of this node. */
  const visit = (node: Node): number => {
    let inside = 0;
    node.forEachChild((child) => {
      inside += visit(child);
      return undefined;
    });
    const body = bodyOf(node);
    if (body === undefined) return inside;
    const first = lineAt(starts, body.end - source.text.slice(body.pos, body.end).trimStart().length);
    const last = lineAt(starts, body.end);
    const lines = last - first - 1 - inside;
    const name = nameOf(node);
    const whole = last - first - 1;
    if (whole > MOST.whole)
      found.push(`${file}:${first}: ${name} has ${whole} lines with all that is declared in it, at most ${MOST.whole}`);
    if (lines > MOST.body) found.push(`${file}:${first}: the body of ${name} has ${lines} lines, at most ${MOST.body}`);
    return isFunctionDeclaration(node) || isMethodDeclaration(node) ? last - first + 1 : inside;
  };
  visit(source);
  return found;
}

function bodyOf(node: Node): Node | undefined {
  const isFunction =
    isFunctionDeclaration(node) ||
    isArrowFunction(node) ||
    isFunctionExpression(node) ||
    isMethodDeclaration(node) ||
    isConstructorDeclaration(node);
  return isFunction && node.body !== undefined && isBlock(node.body) ? node.body : undefined;
}

function nameOf(node: Node): string {
  const named = [node, node.parent].find((one) => one !== undefined && "name" in one && one.name !== undefined);
  const name = named !== undefined && "name" in named ? (named.name as { text?: string }).text : undefined;
  return name ?? "a function without a name";
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** From 1. */
function lineAt(starts: readonly number[], position: number): number {
  const after = starts.findIndex((start) => start > position);
  return after < 0 ? starts.length : after;
}

function crowded(product: readonly string[]): string[] {
  const folders = Map.groupBy(product, dirname);
  return [...folders].flatMap(([folder, { length }]) =>
    length > MOST.folder ? [`${folder}: ${length} files, at most ${MOST.folder}`] : [],
  );
}

/** `...(x === undefined ? {} : { x })` says in a line what `defined({ x })` says in a word. */
function spreads(product: readonly string[]): string[] {
  const found = product.flatMap((file) => readFileSync(join(ROOT, file), "utf8").match(/\? \{\} : \{/g) ?? []);
  return found.length > MOST.spreads
    ? [`the product: ${found.length} spreads of {}, at most ${MOST.spreads}; src/core/base/defined.ts`]
    : [];
}

const api = new API({ cwd: ROOT });
const openProjects = ["tsconfig.json", "src/surfaces/web/client/tsconfig.json"].map((path) => join(ROOT, path));
const projects = api.updateSnapshot({ openProjects }).getProjects();
if (projects.length < openProjects.length) throw new Error(`${openProjects.join(" or ")} is no project`);
const files = globSync("{src,test}/**/*.{ts,tsx}", { cwd: ROOT }).sort();
const product = files.filter((file) => file.startsWith("src/") && !/\.test\.tsx?$|^src\/(?:sim|simulate)\/|\/testing\//.test(file));
const all = [...files.flatMap((file) => breachesOf(file, projects)), ...crowded(product), ...spreads(product)];
api.close();
for (const breach of all) console.error(breach);
console.log(`sizes: ${files.length} files, ${all.length} breaches`);
process.exitCode = all.length === 0 ? 0 : 1;
