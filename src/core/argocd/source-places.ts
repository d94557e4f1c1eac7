import { defined } from "../base/defined.ts";
import { listAt } from "../base/is-record.ts";
import type { SourceView } from "./views.ts";

/** Where an Application's sources look in a repo, from its root: what `application.path` and `application.valuesFile` of a pin are. */
export function placesOf(sources: readonly SourceView[]): { path?: string; valuesFile?: string } {
  const path = sources.find((source) => source.path !== undefined)?.path;
  const valuesFile = sources.flatMap((source) => valuesFilesOf(source)).at(-1);
  const folder = tidyPath(path ?? "");
  return defined({ path: folder === "" ? undefined : folder, valuesFile });
}

/** Helm values files that stand in a repo, in the order Helm takes them; `$ref/…` is from the root of the source of that name. */
export function valuesFilesOf({ path = "", rest }: Pick<SourceView, "path" | "rest">): string[] {
  return listAt(rest, "helm", "valueFiles").flatMap((name) => {
    if (typeof name !== "string" || /^[a-z]+:\/\//.test(name)) return [];
    const ofRef = /^\$[\w-]+\/(.*)$/.exec(name)?.[1];
    if (ofRef !== undefined) return [tidyPath(ofRef)];
    return [tidyPath(name.startsWith("/") ? name : `${path}/${name}`)];
  });
}

/** `./apps/a/` → `apps/a`; `a/../b` → `b`. What would lead out of the repo keeps its `..`, and is refused where it is used. */
export function tidyPath(path: string): string {
  const steps: string[] = [];
  for (const step of path.split("/")) {
    if (step === ".." && steps.length > 0 && steps.at(-1) !== "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  return steps.join("/");
}
