import type { NotGranted } from "../../../core/reasons/problems/repo.ts";

/** What the server's operator lets one repository see. Absent: everything. */
export interface Grants {
  /** Why this control plane may not be named; undefined: it may, or nobody knows it. */
  refusal(controlPlane: string): NotGranted | undefined;
  /** What of a control plane may be seen; undefined: all of it. */
  limits(controlPlane: string): NotGranted | undefined;
}

/** What is kept from a repository on the control planes it asked; undefined: nothing. */
export function limitsOf(grants: Grants | undefined, controlPlanes: readonly string[]): NotGranted | undefined {
  // Without any the answer is the same for each name.
  const asked = controlPlanes.length === 0 ? [""] : controlPlanes;
  return asked.map((name) => grants?.limits(name)).find((why) => why !== undefined);
}
