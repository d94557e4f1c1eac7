/**
 * Keeps reasons out of template literals, where they would read `[object Object]` and the compiler says nothing: a reason is said by
 * `sentenceOf`. And keeps sentences out of decisions: in the core and the engine a reason is a code with data, and `core/report` says
 * it. Exits 1 with one line for each. Run by `npm run lint`.
 */
import { globSync } from "node:fs";
import { join } from "node:path";
import type { Node, SourceFile } from "typescript/unstable/ast";
import {
  isCallExpression,
  isNoSubstitutionTemplateLiteral,
  isPropertyAssignment,
  isStringLiteral,
  isTemplateExpression,
} from "typescript/unstable/ast/is";
import { API, type Project } from "typescript/unstable/sync";

const ROOT = new URL("../../", import.meta.url).pathname;

function breachesOf(file: string, source: SourceFile, { checker }: Project): string[] {
  const found: string[] = [];
  const visit = (node: Node): void => {
    for (const { expression } of isTemplateExpression(node) ? node.templateSpans : []) {
      const type = checker.getTypeAtLocation(expression);
      if (type === undefined || !/\bAnyReason\b|\bWords\b|\bcode: |^\{/.test(checker.typeToString(type))) continue;
      const line = source.text.slice(0, expression.end).split("\n").length;
      found.push(`${file}:${line}: ${source.text.slice(expression.pos, expression.end)} is a reason: say it by sentenceOf(…)`);
    }
    node.forEachChild((child) => {
      visit(child);
      return undefined;
    });
  };
  visit(source);
  return found;
}

/** Where a decision is made, and nothing is said; what is decoded has Argo's own words. */
const SILENT = /^src\/(?:core\/(?!report\/|argocd\/decode\/)|engine\/)(?!.*(?:\.test\.ts$|\/testing\/))/;
/** What a decision would say to people under. */
const SPOKEN = /^(?:why|hint|message|says|ask|reason|because)$/;

/** Sentences that a decision gives as its reason, or collects. */
function sentencesIn(file: string, source: SourceFile): string[] {
  if (!SILENT.test(file)) return [];
  const found: string[] = [];
  const look = (node: Node | undefined): void => {
    if (node === undefined || !isSentence(node)) return;
    found.push(`${file}:${source.text.slice(0, node.end).split("\n").length}: a sentence: give a code with data, which core/report says`);
  };
  const visit = (node: Node): void => {
    if (isPropertyAssignment(node) && SPOKEN.test(source.text.slice(node.name.pos, node.name.end).trim())) look(node.initializer);
    if (isCallExpression(node) && source.text.slice(node.expression.pos, node.expression.end).endsWith(".push")) look(node.arguments[0]);
    node.forEachChild((child) => {
      visit(child);
      return undefined;
    });
  };
  visit(source);
  return found;
}

function isSentence(node: Node): boolean {
  const text = isTemplateExpression(node)
    ? [node.head.text, ...node.templateSpans.map(({ literal }) => `it${literal.text}`)].join("")
    : isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)
      ? node.text
      : "";
  return /(?:^|\s)[a-z']+(?:,? [a-z']+){3,}/i.test(text);
}

const api = new API({ cwd: ROOT });
const openProjects = ["tsconfig.json", "src/surfaces/web/client/tsconfig.json"].map((path) => join(ROOT, path));
const projects = api.updateSnapshot({ openProjects }).getProjects();
if (projects.length < openProjects.length) throw new Error(`${openProjects.join(" or ")} is no project`);
const files = globSync("{src,test}/**/*.{ts,tsx}", { cwd: ROOT }).sort();
const all = files.flatMap((file) => {
  for (const project of projects) {
    const source = project.program.getSourceFile(join(ROOT, file));
    if (source !== undefined) return [...breachesOf(file, source, project), ...sentencesIn(file, source)];
  }
  return [];
});
api.close();
for (const breach of all) console.error(breach);
console.log(`templates: ${files.length} files, ${all.length} breaches`);
process.exitCode = all.length === 0 ? 0 : 1;
