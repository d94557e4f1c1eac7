/** What the server's operator lets one repository see, in words for its people. Absent: everything. */
export interface Grants {
  /** Why this control plane may not be named; undefined: it may, or nobody knows it. */
  refusal(controlPlane: string): string | undefined;
  /** What of a control plane may be seen; undefined: all of it. */
  limits(controlPlane: string): string | undefined;
}

/** Codes of what the server's config does not grant. */
export const NOT_GRANTED = { controlPlane: "CONTROL_PLANE_NOT_GRANTED", project: "PROJECT_NOT_GRANTED" } as const;

/** What is kept from a repository on the control planes it asked; undefined: nothing. */
export function limitsOf(grants: Grants | undefined, controlPlanes: readonly string[]): string | undefined {
  // Without any the answer is the same for each name.
  const asked = controlPlanes.length === 0 ? [""] : controlPlanes;
  return asked.map((name) => grants?.limits(name)).find((why) => why !== undefined);
}
