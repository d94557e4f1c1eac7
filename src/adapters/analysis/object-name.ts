import { createHash } from "node:crypto";

/** Name of a Kubernetes object for an id: at most 63 characters, valid as a label too, and the same for the same id. */
export function objectName(id: string): string {
  const readable = id
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  return `${readable}-${createHash("sha256").update(id).digest("hex").slice(0, 12)}`.replace(/^-+/, "");
}
