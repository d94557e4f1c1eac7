/** Which files a kustomization is made of, and what of an edit of one does not come out of it. */
import { joinPath } from "../base/clean-path.ts";
import { isRecord, listAt } from "../base/is-record.ts";
import type { RepoFiles } from "../base/repo-files.ts";
import { yamlIn } from "./helm-values.ts";
import { sameValue } from "./same.ts";

const NAMES = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
/** Bases of bases of bases. */
const DEEPEST = 5;
const MOST_FOLDERS = 500;

/** The kustomization of a folder, and where it stands; undefined: there is none. */
export function kustomizationIn(files: Pick<RepoFiles, "read">, folder: string): { file: string; data: unknown } | undefined {
  for (const name of NAMES) {
    const file = joinPath(folder, name);
    if (files.read(file) !== null) return { file, data: yamlIn(files, file) };
  }
  return undefined;
}

/** Whether the kustomization in a folder takes in a file, itself or by others; undefined: it cannot be told. */
export function kustomizeReads(files: Pick<RepoFiles, "read">, start: string, file: string): boolean | undefined {
  const seen = new Map([[start, 0]]);
  let unknown = false;
  for (const [folder, depth] of seen) {
    const found = kustomizationIn(files, folder);
    if (found === undefined) continue;
    if (found.file === file) return true;
    // Charts that it inflates are looked for there.
    if (file.startsWith(`${joinPath(folder, "charts")}/`)) return true;
    if (!isRecord(found.data)) {
      unknown = true;
      continue;
    }
    for (const named of namesIn(found.data)) {
      const target = joinPath(folder, named).replace(/\/$/, "");
      if (target === file) return true;
      if (target.startsWith("..") || /\.(ya?ml|json|toml|env|txt|properties)$/.test(target)) continue;
      if (depth >= DEEPEST || seen.size >= MOST_FOLDERS) unknown = true;
      else if (!seen.has(target)) seen.set(target, depth + 1);
    }
  }
  return unknown ? undefined : false;
}

/** Every text of it that may be a path: `resources`, patches, files of generators (`key=path`), values files of charts. */
function namesIn(data: unknown, depth = 0): string[] {
  if (typeof data === "string") {
    if (data.includes("\n") || data.includes("://") || data.length > 1000) return [];
    const after = data.slice(data.indexOf("=") + 1);
    return after === data ? [data] : [data, after];
  }
  if (depth > 6) return [];
  if (Array.isArray(data)) return data.flatMap((item) => namesIn(item, depth + 1));
  return isRecord(data) ? Object.values(data).flatMap((value) => namesIn(value, depth + 1)) : [];
}

/**
 * Says whether an edit of a kustomization changes nothing but image tags that something above it sets again. Then nothing of it comes
 * out. `top`: the folder of the source.
 */
export function isImageOverridden(
  before: Pick<RepoFiles, "read">,
  after: Pick<RepoFiles, "read">,
  { top, file, given }: { top: string; file: string; given: unknown },
): boolean {
  const onTop = kustomizationIn(after, top);
  const names = new Set(imagesGiven(given));
  if (onTop !== undefined && onTop.file !== file)
    for (const image of listAt(onTop.data, "images")) if (isRecord(image) && (image["newTag"] ?? image["digest"])) names.add(image["name"]);
  if (names.size === 0) return false;
  const rest = (data: unknown): unknown =>
    isRecord(data) ? { ...data, images: listAt(data, "images").filter((image) => !isRecord(image) || !names.has(image["name"])) } : data;
  return sameValue({ valuesObject: rest(yamlIn(before, file)) }, { valuesObject: rest(yamlIn(after, file)) });
}

/** `name=other:tag` or `name:tag`, as `kustomize edit set image` takes them; with `*` for the tag it keeps the one that is there. */
function imagesGiven(kustomize: unknown): unknown[] {
  return listAt(kustomize, "images").flatMap((image) =>
    typeof image === "string" && !/[:@]\*$/.test(image)
      ? image
          .replace(/=.*$/s, "")
          .replace(/@.*$/s, "")
          .replace(/:[^/:]*$/, "")
      : [],
  );
}
