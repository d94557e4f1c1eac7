/**
 * What a rollout counts (`spec.targetBy`): the clusters, or in their place the Applications or the namespaces on them. Each is a `Cluster` with
 * a name and labels of its own, so that planning and running count them alike. Called by whatever plans, and by whatever looks at the fleet of a run.
 */
import { compareText } from "../../core/base/compare-text.ts";
import { defined } from "../../core/base/defined.ts";
import type { Cluster } from "../../core/plan/plan-types.ts";
import type { Rollout, TargetBy } from "../../core/spec/rollout.ts";
import type { SeenApplication } from "./draft.ts";
import { indexClusters } from "./targets-join.ts";

/** Where one Application is: on a cluster, and what is counted for it. */
interface Place {
  cluster: Cluster;
  counted: Cluster;
}

interface Counted {
  find(seen: SeenApplication): Place | { missing: string };
  /** All that is counted: of clusters those without an Application, too. */
  all(): Cluster[];
  /** The clusters themselves: those given, and those that only an Application's destination tells of. */
  clusters(): Cluster[];
}

/** Labels that tell what is counted by where it is; no Application can bear them itself. */
const OWN = "stagecoach.dev/";

/** `applications`: those of the rollout's source alone. */
export function countedOf(
  { targetBy, source }: Pick<Rollout, "targetBy" | "source">,
  clusters: readonly Cluster[],
  applications: readonly SeenApplication[],
): Counted {
  // Labels of one Application are not those of its neighbours.
  const index = indexClusters(clusters, source.controlPlanes, targetBy === undefined);
  const known = () => [...clusters, ...index.made()];
  const on = (seen: SeenApplication) => index.find(seen);
  if (targetBy === undefined) return { all: known, clusters: known, find: (seen) => both(on(seen)) };
  const keyOf = targetBy === "application" ? applicationKey : namespaceKey;
  const found = new Map<string, Cluster>();
  for (const seen of applications) {
    const cluster = on(seen);
    if ("missing" in cluster) continue;
    const key = keyOf(seen, cluster);
    const before = found.get(key);
    if (before === undefined) found.set(key, placed(key, seen, cluster, targetBy));
    else found.set(key, { ...before, labels: shared(before.labels, overlaid(seen, cluster, targetBy)) });
  }
  return {
    find(seen) {
      const cluster = on(seen);
      if ("missing" in cluster) return cluster;
      const counted = found.get(keyOf(seen, cluster));
      return counted === undefined ? { missing: seen.view.name } : { cluster, counted };
    },
    all: () => [...found.values()].sort((a, b) => compareText(a.key, b.key)),
    clusters: known,
  };
}

function both(cluster: Cluster | { missing: string }): Place | { missing: string } {
  return "missing" in cluster ? cluster : { cluster, counted: cluster };
}

/** A source has one namespace, so the name alone tells its Applications apart. */
function applicationKey({ controlPlane, view }: SeenApplication): string {
  return `${controlPlane}/${view.name}`;
}

/** No namespace has a colon, whatever a cluster is called. */
function namespaceKey({ view }: SeenApplication, { key }: Cluster): string {
  return `${key}:${view.spec.destination.namespace ?? "default"}`;
}

function placed(key: string, seen: SeenApplication, on: Cluster, by: TargetBy): Cluster {
  const { controlPlane, server } = on;
  return { key, name: key.slice(controlPlane.length + 1), controlPlane, server, labels: overlaid(seen, on, by), registered: true, on };
}

/** The cluster's labels, the Application's over them, and where it is: of that neither says anything itself. */
function overlaid({ view: { name, labels, spec } }: SeenApplication, cluster: Cluster, by: TargetBy): Record<string, string> {
  const project = spec.project === "" ? undefined : spec.project;
  const own = defined({
    name: by === "application" ? name : undefined,
    namespace: spec.destination.namespace,
    project,
    cluster: cluster.name,
  });
  const written = Object.entries({ ...cluster.labels, ...labels }).filter(([key]) => !key.startsWith(OWN));
  return Object.fromEntries([...written, ...Object.entries(own).map(([key, value]) => [OWN + key, value])]);
}

/** Those that both have, with one value. */
function shared(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(a).filter(([key, value]) => Object.hasOwn(b, key) && b[key] === value));
}
