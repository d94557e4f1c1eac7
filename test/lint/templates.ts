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

function breachesOf(file: string, source: SourceFile, project: Project): string[] {
  const found: string[] = [];
  const visit = (node: Node): void => {
    for (const { expression } of isTemplateExpression(node) ? node.templateSpans : []) {
      const type = project.checker.getTypeAtLocation(expression);
      if (type === undefined || !/\bAnyReason\b|\bWords\b|\bcode: |^\{/.test(project.checker.typeToString(type))) continue;
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
const [project] = api.updateSnapshot({ openProjects: [join(ROOT, "tsconfig.json")] }).getProjects();
if (project === undefined) throw new Error("tsconfig.json is no project");
const files = globSync("{src,test}/**/*.{ts,tsx}", { cwd: ROOT }).sort();
const all = files.flatMap((file) => {
  const source = project.program.getSourceFile(join(ROOT, file));
  return source === undefined ? [] : breachesOf(file, source, project);
});
api.close();
for (const breach of all) console.error(breach);
console.log(`templates: ${files.length} files, ${all.length} breaches`);
process.exitCode = all.length === 0 ? 0 : 1;
