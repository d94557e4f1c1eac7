/** What Jobs and AnalysisRuns share as objects of Kubernetes. */
import { createHash } from "node:crypto";
import { matchesGlob } from "../../core/base/glob.ts";
import { repositoryOf } from "../outbound/outbound.ts";

/** Where what a repository's templates run is made. It can do there what the namespace's service accounts can: give it one of its own. */
export interface Namespaces {
  namespace: string;
  /** Of these config repos instead; the first that fits. */
  namespaces?: readonly { repositories: readonly string[]; namespace: string }[];
}

/** The namespace for an analysis, by the repository that its id begins with. */
export function namespaceFor({ namespace, namespaces = [] }: Namespaces, id: string): string {
  const repository = repositoryOf(id).toLowerCase();
  const fits = (glob: string) => matchesGlob(glob.toLowerCase(), "go", repository);
  return namespaces.find(({ repositories }) => repositories.some(fits))?.namespace ?? namespace;
}

/** Makes the name of an object for an id: at most 63 characters, valid as a label too, and the same for the same id. */
export function objectName(id: string): string {
  const readable = id
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|(?<!-)-+$/g, "")
    .slice(0, 40);
  return `${readable}-${createHash("sha256").update(id).digest("hex").slice(0, 12)}`.replace(/^-+/, "");
}

/** The HTTP status that a call of the Kubernetes client failed with. */
export function codeOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "number" ? error.code : undefined;
}
