import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { matchesGlob } from "../../../core/base/glob.ts";
import type { Grants } from "../../../engine/round/observe/grants.ts";
import { grantedPlane } from "./granted-plane.ts";

/** What the operator grants to the repositories that one of the globs matches. */
export interface TenancyRule {
  /** Globs of `owner/name`, in any case. */
  repositories: readonly string[];
  controlPlanes: readonly {
    name: string;
    /** Globs of Argo CD projects. */
    projects: readonly string[];
  }[];
}

/** The control planes one repository works with, by name, and what is kept from it. */
export interface RepoRights {
  planes: ReadonlyMap<string, ControlPlane>;
  /** Absent: nothing is. */
  grants?: Grants;
}

/**
 * Who may use what. Without rules every repository may use everything, as fits a bot of one team. With rules a repository
 * has what the ones that match it grant together, and one that none matches has nothing.
 */
export function tenancy(rules: readonly TenancyRule[] | undefined, planes: readonly ControlPlane[]): (repository: string) => RepoRights {
  if (rules === undefined) {
    const all = new Map(planes.map((plane) => [plane.name, plane]));
    return () => ({ planes: all });
  }
  return (repository) => {
    const granted = projectsOf(rules, repository.toLowerCase());
    const own = planes.flatMap((plane) => {
      const globs = granted.get(plane.name);
      return globs === undefined ? [] : [[plane.name, grantedPlane(plane, projectMatcher(globs))] as const];
    });
    return { planes: new Map(own), grants: grantsOf(granted) };
  };
}

function projectsOf(rules: readonly TenancyRule[], repository: string): Map<string, string[]> {
  const granted = new Map<string, string[]>();
  for (const rule of rules) {
    if (!rule.repositories.some((glob) => matchesGlob(glob.toLowerCase(), "go", repository))) continue;
    for (const { name, projects } of rule.controlPlanes) granted.set(name, [...(granted.get(name) ?? []), ...projects]);
  }
  return granted;
}

function projectMatcher(globs: readonly string[]): (project: string) => boolean {
  return (project) => globs.some((glob) => matchesGlob(glob, "go", project));
}

function grantsOf(byPlane: ReadonlyMap<string, readonly string[]>): Grants {
  const granted = [...byPlane.keys()];
  return {
    // Of one that is not granted it is not said whether there is such a one.
    refusal: (asked) => (byPlane.has(asked) ? undefined : { code: "CONTROL_PLANE_NOT_GRANTED", granted, asked }),
    limits(controlPlane) {
      const projects = byPlane.get(controlPlane);
      if (projects === undefined) return { code: "CONTROL_PLANE_NOT_GRANTED", granted };
      return projects.includes("*") ? undefined : { code: "PROJECT_NOT_GRANTED", controlPlane, projects };
    },
  };
}
