/** A control plane shows a tenant nothing but its own projects. Called by `tenancy.ts`. */
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { plainServer } from "../../../core/argocd/same.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { defined } from "../../../core/base/defined.ts";

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
    refresh: async (namespace, name) => (application(namespace, name) === undefined ? "unavailable" : await plane.refresh(namespace, name)),
    // The plane belongs to all tenants: whoever opened it closes it.
    close: async () => undefined,
  };
  return { ...granted, ...insideApplications(plane, application), ...generating(plane, mayUse) };
}

/** Argo CD renders whatever it is given, with what it knows of every cluster: only for sets of the tenant's own projects. */
function generating(plane: ControlPlane, mayUse: (project: string) => boolean): Pick<ControlPlane, "generate"> {
  const { generate } = plane;
  if (generate === undefined) return {};
  return {
    async generate(applicationSet) {
      const project = projectOf(record(applicationSet["spec"]));
      if (project !== undefined && !project.includes("{{") && mayUse(project)) return await generate(applicationSet);
      return { kind: "forbidden", why: "the project of its template is not granted to this repository" };
    },
  };
}

type Inside = "rollouts" | "runAction" | "offersAction" | "syncWindows";

/** What a plane may be able to do with one Application: only with the tenant's own. */
function insideApplications(
  plane: ControlPlane,
  application: (namespace: string, name: string) => ApplicationView | undefined,
): Pick<ControlPlane, Inside> {
  const { rollouts, runAction, offersAction, syncWindows } = plane;
  const notGranted = (target: { namespace: string; name: string }) => {
    return { kind: "forbidden", why: `there is no Application ${target.namespace}/${target.name} that this repository may use` } as const;
  };
  const isGranted = ({ namespace, name }: { namespace: string; name: string }) => application(namespace, name) !== undefined;
  return defined({
    rollouts:
      rollouts &&
      (async (namespace: string, name: string) => (isGranted({ namespace, name }) ? await rollouts(namespace, name) : "unavailable")),
    syncWindows:
      syncWindows &&
      (async (namespace: string, name: string) => (isGranted({ namespace, name }) ? await syncWindows(namespace, name) : undefined)),
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
  const template = record(spec["template"]);
  const project = record(record(template)["spec"])["project"];
  return typeof project === "string" ? project : undefined;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
