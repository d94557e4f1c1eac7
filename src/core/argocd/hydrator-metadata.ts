/** What Argo CD's source hydrator writes beside hydrated manifests, in Git. */
import { fields, word } from "./decode/lenient.ts";

/** Where it says what the manifests of a path were made from. */
export function metadataOf(path: string): string {
  const folder = path.replace(/^(\.?\/+)+/, "").replace(/(?<!\/)\/+$/, "");
  return folder === "" || folder === "." ? "hydrator.metadata" : `${folder}/hydrator.metadata`;
}

/** The dry commit that it names; undefined: none. */
export function drySHAOf(text: string): string | undefined {
  try {
    return word(fields(JSON.parse(text)), "drySha");
  } catch {
    return undefined;
  }
}
