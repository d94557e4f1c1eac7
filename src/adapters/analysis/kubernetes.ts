/** What Jobs and AnalysisRuns share as objects of Kubernetes. */
import { createHash } from "node:crypto";

/** Makes the name of an object for an id: at most 63 characters, valid as a label too, and the same for the same id. */
export function objectName(id: string): string {
  const readable = id
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  return `${readable}-${createHash("sha256").update(id).digest("hex").slice(0, 12)}`.replace(/^-+/, "");
}

/** The HTTP status that a call of the Kubernetes client failed with. */
export function codeOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "number" ? error.code : undefined;
}
