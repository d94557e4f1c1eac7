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
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isPropertyAssignment,
  isStringLiteral,
  isTemplateExpression,
  isThrowStatement,
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

/** Where the core holds words all the same: what fields and commands are for, what a parser says of YAML, and values of evidence beside Argo CD's. */
const DESCRIBED =
  /^src\/core\/(?:spec\/(?:schema[\w-]*|repo-config|notifications|commands)|base\/yaml-read|argocd\/liveness\/evidence)\.ts$/;
/** A word that a list of names has not. */
const SAID = /(?:^|\s)(?:a|an|the|is|are|it|its|of|to|not|has|have|cannot|until)(?:\s|$)/i;

/** Sentences that a decision gives as its reason, or collects; in the core, any but what stands in an error that is thrown. */
function sentencesIn(file: string, source: SourceFile): string[] {
  if (!SILENT.test(file)) return [];
  const found: string[] = [];
  const look = (node: Node | undefined): void => {
    if (node === undefined || !isSentence(node)) return;
    found.push(`${file}:${source.text.slice(0, node.end).split("\n").length}: a sentence: give a code with data, which core/report says`);
  };
  const isCore = file.startsWith("src/core/") && !DESCRIBED.test(file);
  const visit = (node: Node): void => {
    if (isThrowStatement(node) || (isNewExpression(node) && /^\s*Error$/.test(source.text.slice(node.expression.pos, node.expression.end))))
      return;
    if (isCore && SAID.test(textOf(node))) look(node);
    else if (isPropertyAssignment(node) && SPOKEN.test(source.text.slice(node.name.pos, node.name.end).trim())) look(node.initializer);
    else if (isCallExpression(node) && source.text.slice(node.expression.pos, node.expression.end).endsWith(".push"))
      look(node.arguments[0]);
    node.forEachChild((child) => {
      visit(child);
      return undefined;
    });
  };
  visit(source);
  return found;
}

function isSentence(node: Node): boolean {
  const text = textOf(node);
  return /(?:^|\s)[a-z']+(?:,? [a-z']+){3,}/i.test(text) || (SAID.test(text) && /[a-z']+ [a-z']+ [a-z']+/i.test(text));
}

/** The words of a literal; what is filled in stands for one. */
function textOf(node: Node): string {
  if (isTemplateExpression(node)) return [node.head.text, ...node.templateSpans.map(({ literal }) => `x${literal.text}`)].join("");
  return isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node) ? node.text : "";
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
