import { type RepoFiles, readOrNull } from "../base/repo-files.ts";
import type { Asked } from "./request.ts";
import { readTemplates } from "./template.ts";
import type { AnalysisTemplate } from "./template-schema.ts";

/** Where templates of a config repo stand, unless a reference names its file. */
export const TEMPLATES_FOLDER = "analysis/";

/** The files that may hold the templates asked for: those named, and where one names none, all below `analysis/`. */
export function templateFiles(asked: readonly { file?: string | undefined }[], files: Pick<RepoFiles, "paths">): string[] {
  const named = asked.flatMap(({ file }) => (file === undefined ? [] : [file]));
  const folder = asked.every(({ file }) => file !== undefined) ? [] : files.paths().filter(isTemplateFile);
  return [...new Set([...named, ...folder])];
}

function isTemplateFile(path: string): boolean {
  return path.startsWith(TEMPLATES_FOLDER) && /\.ya?ml$/.test(path);
}

/** The templates of these files that could be read. */
export function templatesIn(paths: readonly string[], files: RepoFiles): AnalysisTemplate[] {
  return paths.flatMap((path) => {
    const text = readOrNull(files, path);
    return text === null ? [] : readTemplates(text, path, { builtin: false }).templates;
  });
}

/** What is asked for, without the files that it stands in. */
export function askedOf(templates: readonly { templateName: string; clusterScope: boolean }[], args: Asked["args"]): Asked {
  return { templates: templates.map(({ templateName, clusterScope }) => ({ templateName, clusterScope })), args };
}
