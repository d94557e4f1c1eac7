/** Who may use what: a repository sees the control planes and projects that the operator grants it, and nothing else. */
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { plainServer } from "../../../core/argocd/same.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { defined } from "../../../core/base/defined.ts";
import { matchesGlob } from "../../../core/base/glob.ts";
import { dig, recordOf } from "../../../core/base/is-record.ts";
import { planeReason } from "../../../core/reasons/control-plane.ts";
import type { Grants } from "../../../engine/round/observe/grants.ts";

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
 * Who may use what. With rules a repository has what the ones that match it grant together, and one that none matches has nothing. Without
 * rules `isHome` says who may use everything: the repositories of the one account that the bot works for.
 */
export function tenancy(
  rules: readonly TenancyRule[] | undefined,
  planes: readonly ControlPlane[],
): (repository: string, isHome?: boolean) => RepoRights {
  const all = new Map(planes.map((plane) => [plane.name, plane]));
  return (repository, isHome = true) => {
    if (rules === undefined && isHome) return { planes: all };
    const granted = projectsOf(rules ?? [], repository.toLowerCase());
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
    if (!rule.repositories.some((glob) => matchesRepository(glob, repository))) continue;
    for (const { name, projects } of rule.controlPlanes) granted.set(name, [...(granted.get(name) ?? []), ...projects]);
  }
  return granted;
}

/** Whether a glob of `owner/name`, in any case, means this repository. */
export function matchesRepository(glob: string, repository: string): boolean {
  return matchesGlob(glob.toLowerCase(), "go", repository.toLowerCase());
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

/**
 * A control plane as one tenant may see it: Applications of other projects are not there, nor are the ApplicationSets that
 * make them; of clusters on which none of the tenant's Applications runs it is not said whether they can be reached.
 */
export function grantedPlane(plane: ControlPlane, mayUse: (project: string) => boolean): ControlPlane {
  const visible = (view: ApplicationView) => mayUse(view.spec.project);
  const own = (owner?: { namespace: string; name: string }) => plane.applications(owner).filter(visible);

  function application(namespace: string, name: string): ApplicationView | undefined {
    const view = plane.application(namespace, name);
    return view !== undefined && visible(view) ? view : undefined;
  }

  function applicationSet(namespace: string, name: string) {
    const set = plane.applicationSet(namespace, name);
    const project = set === undefined ? undefined : projectOf(set.spec);
    if (project !== undefined && !project.includes("{{")) return mayUse(project) ? set : undefined;
    // A templated project is known only by what came of it.
    return plane.applications({ namespace, name }).every(visible) ? set : undefined;
  }

  const granted: ControlPlane = {
    name: plane.name,
    labels: plane.labels,
    uiUrl: plane.uiUrl,
    ready: () => plane.ready(),
    state: () => plane.state(),
    application,
    applications: own,
    applicationSet,
    clusters() {
      const mine = new Set(own().flatMap(({ spec: { destination } }) => placesOf(destination)));
      return plane.clusters().map((cluster) => {
        if (mine.has(cluster.name) || mine.has(plainServer(cluster.server))) return cluster;
        const { connection: _, ...rest } = cluster;
        return rest;
      });
    },
    onChange: (listener) =>
      plane.onChange((changed) => {
        if (changed === null) return listener(null);
        const mine = [...changed].filter((key) => isOwn(plane, key, visible));
        if (mine.length > 0) listener(new Set(mine));
      }),
    reread: async (namespace, name) =>
      application(namespace, name) === undefined ? { kind: "gone" } : await plane.reread(namespace, name),
    // The plane belongs to all tenants: whoever opened it closes it.
    close: async () => undefined,
  };
  const { refresh, refreshSet } = plane;
  if (refresh !== undefined)
    granted.refresh = async (namespace, name) =>
      application(namespace, name) === undefined ? "unavailable" : await refresh(namespace, name);
  if (refreshSet !== undefined)
    granted.refreshSet = async (namespace, name) =>
      applicationSet(namespace, name) === undefined ? "unavailable" : await refreshSet(namespace, name);
  return { ...granted, ...insideApplications(plane, application), ...generating(plane, mayUse) };
}

/** Argo CD renders whatever it is given, with what it knows of every cluster: only for sets of the tenant's own projects. */
function generating(plane: ControlPlane, mayUse: (project: string) => boolean): Pick<ControlPlane, "generate"> {
  const { generate } = plane;
  if (generate === undefined) return {};
  return {
    async generate(applicationSet) {
      const project = projectOf(recordOf(applicationSet["spec"]));
      if (project !== undefined && !project.includes("{{") && mayUse(project)) return await generate(applicationSet);
      return { kind: "forbidden", why: planeReason("TEMPLATE_NOT_GRANTED") };
    },
  };
}

type Inside = "rollouts" | "runAction" | "offersAction" | "syncWindows" | "content" | "manifests" | "sync";

/** What a plane may be able to do with one Application: only with the tenant's own. */
function insideApplications(
  plane: ControlPlane,
  application: (namespace: string, name: string) => ApplicationView | undefined,
): Pick<ControlPlane, Inside> {
  const { rollouts, runAction, offersAction, syncWindows, content, manifests, sync } = plane;
  const notGranted = (target: { namespace: string; name: string }) => {
    return {
      kind: "forbidden",
      why: planeReason("APPLICATION_NOT_GRANTED", { application: `${target.namespace}/${target.name}` }),
    } as const;
  };
  const isGranted = ({ namespace, name }: { namespace: string; name: string }) => application(namespace, name) !== undefined;
  return defined({
    rollouts:
      rollouts &&
      (async (namespace: string, name: string) => (isGranted({ namespace, name }) ? await rollouts(namespace, name) : "unavailable")),
    syncWindows:
      syncWindows &&
      (async (namespace: string, name: string) => (isGranted({ namespace, name }) ? await syncWindows(namespace, name) : undefined)),
    content:
      content &&
      (async (namespace, name, question) =>
        isGranted({ namespace, name })
          ? await content(namespace, name, question)
          : ({ ...notGranted({ namespace, name }), kind: "failed", refused: true } as const)),
    manifests:
      manifests &&
      (async (namespace, name, revisions) =>
        isGranted({ namespace, name }) ? await manifests(namespace, name, revisions) : notGranted({ namespace, name })),
    sync:
      sync &&
      (async (namespace, name, wanted) =>
        isGranted({ namespace, name })
          ? await sync(namespace, name, wanted)
          : { kind: "refused", why: notGranted({ namespace, name }).why }),
    runAction:
      runAction && (async (target, rollout, action) => (isGranted(target) ? await runAction(target, rollout, action) : notGranted(target))),
    offersAction:
      offersAction &&
      (async (target, rollout, action) => (isGranted(target) ? await offersAction(target, rollout, action) : notGranted(target))),
  } satisfies { [K in Inside]: ControlPlane[K] | undefined });
}

/** One that is gone has no project any more; that it went says nothing. */
function isOwn(plane: ControlPlane, key: string, visible: (view: ApplicationView) => boolean): boolean {
  const [namespace = "", name = ""] = key.split("/");
  const view = plane.application(namespace, name);
  return view === undefined || visible(view);
}

function placesOf({ name, server }: ApplicationView["spec"]["destination"]): string[] {
  return [...(name === undefined ? [] : [name]), ...(server === undefined ? [] : [plainServer(server)])];
}

function projectOf(spec: Record<string, unknown>): string | undefined {
  const project = dig(spec, "template", "spec", "project");
  return typeof project === "string" ? project : undefined;
}
