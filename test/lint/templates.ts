/**
 * Keeps reasons out of template literals, where they would read `[object Object]` and the compiler says nothing: a reason is said by
 * `sentenceOf`. Exits 1 with one line for each. Run by `npm run lint`.
 */
import { globSync } from "node:fs";
import { join } from "node:path";
import type { Node, SourceFile } from "typescript/unstable/ast";
import { isTemplateExpression } from "typescript/unstable/ast/is";
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

const api = new API({ cwd: ROOT });
const openProjects = ["tsconfig.json", "src/surfaces/web/client/tsconfig.json"].map((path) => join(ROOT, path));
const projects = api.updateSnapshot({ openProjects }).getProjects();
if (projects.length < openProjects.length) throw new Error(`${openProjects.join(" or ")} is no project`);
const files = globSync("{src,test}/**/*.{ts,tsx}", { cwd: ROOT }).sort();
const all = files.flatMap((file) => {
  for (const project of projects) {
    const source = project.program.getSourceFile(join(ROOT, file));
    if (source !== undefined) return breachesOf(file, source, project);
  }
  return [];
});
api.close();
for (const breach of all) console.error(breach);
console.log(`templates: ${files.length} files, ${all.length} breaches`);
process.exitCode = all.length === 0 ? 0 : 1;
