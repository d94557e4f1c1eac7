/**
 * Children of an app of apps: the Applications that a target makes on the hub it runs on, by themselves or by ApplicationSets. Argo CD leaves their health out of the parent's, so each
 * is judged by itself, as a target is, and the parent counts only with all of them. Called by `judge-targets.ts` for a target that has any.
 */
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { render } from "../../../core/appset/render.ts";
import type { AppSetCluster } from "../../../core/appset/types.ts";
import { isInCluster } from "../../../core/argocd/cluster-views.ts";
import { committedSources, intendedOf } from "../../../core/argocd/decode/source.ts";
import { assess } from "../../../core/argocd/liveness/liveness.ts";
import type { Change, ChildSeen, Intended, LivenessInput } from "../../../core/argocd/liveness/types.ts";
import { normalRepo } from "../../../core/argocd/same.ts";
import type { ApplicationSetView, ApplicationView, SourceView } from "../../../core/argocd/views.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import { isRecord } from "../../../core/base/is-record.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { namesRef } from "../../../core/base/ref-name.ts";
import { epoch, iso } from "../../../core/base/time.ts";
import { livenessReason } from "../../../core/reasons/liveness.ts";
import type { BatchTarget, Run } from "../../../core/run/state/run.ts";
import type { Assessment } from "../../../core/run/state/world.ts";
import { generatorClusters, specsOf } from "../../config-repo/appset-in-git.ts";
import { clusterOf } from "../../resolve/fleet.ts";
import type { Refresher } from "../guard/refresh.ts";
import type { TargetReader } from "../guard/reread.ts";
import type { Facts } from "./facts.ts";
import type { Waiting } from "./parents.ts";
import { endIsPast, refreshReason } from "./refresh-key.ts";
import type { TroubleOfOwner } from "./stability.ts";

/** A child of a child counts, too; deeper than this nobody nests. */
const DEEPEST = 4;
/** Below one target. */
const MOST_SEEN = 5000;
const MOST_KEPT = 20_000;

/** A target, as it is judged; of one without a batch of its own nothing is asked. */
interface Parent extends Waiting {
  run: Pick<Run, "spec">;
  now: number;
  target: Pick<BatchTarget, "edits">;
}

type Held = NonNullable<Assessment["held"]>;
type SeenBefore = Pick<LivenessInput, "firstSeenAt" | "firstComparedAt"> & { held?: Held };

/** What of a child would tell more: another comparison, a read by its name. */
interface Want {
  key: string;
  refresh?: { reason: string; from: number };
  read: boolean;
}

/** What was seen of each child before is kept in memory: after a restart settling begins anew. */
export interface Children {
  of(parent: Parent, facts: Pick<Facts, "ancestry" | "renderedNow">, kept: LivenessInput["kept"]): { seen: ChildSeen[]; wants: Want[] };
}

interface Child {
  place: string;
  view: ApplicationView | undefined;
  /** As its set renders it; absent: as it is. */
  intended?: Intended | undefined;
  /** A set of which nothing can be told. */
  untold?: AnyReason;
}

/** What a set that reads the config repo yields there, by name; undefined: it reads something else. */
type Renders = (set: ApplicationSetView, clusters: readonly AppSetCluster[]) => ReadonlyMap<string, Intended> | "unread" | undefined;

/** Those that a parent makes on the very hub it is on; what it makes elsewhere another Argo CD runs. */
export function childrenOf(plane: ControlPlane, parent: ApplicationView, renders: Renders = () => undefined): Child[] {
  const { name, namespace, spec, status } = parent;
  if (status.children === undefined && status.childSets === undefined) return [];
  const cluster = clusterOf(plane, parent);
  const isOnHub = isInCluster(spec.destination) || (cluster !== undefined && isInCluster({ server: cluster.server }));
  // A hub may go by an address that only the outside calls it by: what lives here then says who applies it. Where it does not say, it counts.
  const isOurs = (space: string, one: Pick<ApplicationView, "appliedBy" | "owner"> | undefined) => {
    const by = one?.appliedBy;
    const isOwn =
      by === undefined ? one !== undefined && one.owner === undefined : by.name === name && (by.namespace ?? space) === namespace;
    return isOnHub || isOwn;
  };
  const own = (status.children ?? []).flatMap((place): Child[] => {
    const [space = "", child = ""] = place.split("/");
    const view = plane.application(space, child);
    return isOurs(space, view) ? [{ place, view }] : [];
  });
  const generated = (status.childSets ?? []).flatMap((place): Child[] => {
    const [space = "", child = ""] = place.split("/");
    const set = plane.applicationSet(space, child);
    return isOurs(space, set) ? ofSet(plane, place, set, renders) : [];
  });
  return [...own, ...generated];
}

/** What a set makes. Its controller may not have taken up yet what the parent changed of it, so each is held against what the set says now. */
function ofSet(plane: ControlPlane, place: string, set: ApplicationSetView | undefined, renders: Renders): Child[] {
  const made = set === undefined ? [] : plane.applications({ namespace: set.namespace, name: set.name });
  const error = set?.conditions.find(({ type, status }) => type === "ErrorOccurred" && status === "True");
  const hasRun = set !== undefined && (set.conditions.length > 0 || made.length > 0);
  if (!hasRun || error !== undefined) {
    const said = error && (error.message ?? error.reason ?? "").slice(0, 300);
    return [{ place, view: undefined, untold: livenessReason("CHILD_SET_UNTOLD", { set: place, seen: set !== undefined, said }) }];
  }
  const clusters = generatorClusters([plane]);
  const specs = renderedNow(set, clusters) ?? renders(set, clusters);
  if (specs === "unread")
    return [{ place, view: undefined, untold: livenessReason("CHILD_SET_UNTOLD", { set: place, seen: true, said: undefined }) }];
  const missing = [...(specs?.keys() ?? [])].filter((name) => !made.some((view) => view.name === name));
  return [
    ...made.map((view): Child => {
      const intended = specs?.get(view.name);
      const isBehind = specs === undefined && !matchesTemplate(set.spec, view);
      const untold = isBehind ? { untold: livenessReason("SPEC_DIFFERS", { part: "sources" }) } : {};
      return { place: `${view.namespace}/${view.name}`, view, ...defined({ intended }), ...untold };
    }),
    ...missing.map((name): Child => ({ place: `${set.namespace}/${name}`, view: undefined })),
  ];
}

const rendered = new WeakMap<ApplicationSetView, { clusters: string; specs: ReadonlyMap<string, Intended> | undefined }>();

/** By name, from the set as it lives and the clusters that Argo CD knows. undefined: it reads what is not at hand, as Git generators do. */
function renderedNow(set: ApplicationSetView, clusters: readonly AppSetCluster[]): ReadonlyMap<string, Intended> | undefined {
  const known = rendered.get(set);
  const as = JSON.stringify(clusters);
  if (known?.clusters === as) return known.specs;
  const { name, namespace, uid, spec } = set;
  const specs = specsOf(render({ metadata: { name, namespace, uid }, spec }, { clusters }));
  rendered.set(set, { clusters: as, specs });
  return specs;
}

/** Whether what the template says without parameters stands in the Application; a patch may change any of it. */
function matchesTemplate(spec: Record<string, unknown>, { spec: live }: ApplicationView): boolean {
  const { template, templatePatch } = spec;
  if (!isRecord(template) || templatePatch !== undefined) return true;
  const { sources } = intendedOf(template["spec"]);
  return sources.length === live.sources.length && sources.every((source, i) => isWithin(source, live.sources[i]));
}

function isWithin(wanted: unknown, live: unknown): boolean {
  if (typeof wanted === "string") return wanted.includes("{{") || wanted === live;
  if (Array.isArray(wanted))
    return Array.isArray(live) && wanted.length === live.length && wanted.every((one, i) => isWithin(one, live[i]));
  if (isRecord(wanted)) return isRecord(live) && Object.entries(wanted).every(([key, value]) => isWithin(value, live[key]));
  return wanted === live;
}

export function openChildren(troubleOfOwner: TroubleOfOwner): Children {
  const before = new BoundedMap<string, SeenBefore>(MOST_KEPT);

  function look(
    parent: Parent & { application: ApplicationView },
    facts: Pick<Facts, "ancestry" | "renderedNow">,
    kept: LivenessInput["kept"],
    wants: Want[],
    above: { seen: Set<string>; depth: number },
  ): ChildSeen[] {
    const { plane, application, merged, now, run } = parent;
    const { settleMs, graceMs, suspended } = run.spec;
    const { seen, depth } = above;
    // Each once, however many make it: they may make one another.
    const renders: Renders = (set, clusters) => facts.renderedNow(set, clusters, merged.commit);
    const fresh = childrenOf(plane, application, renders).filter(({ place }) => !seen.has(place));
    for (const { place } of fresh) seen.add(place);
    return fresh.map(({ place, view, intended, untold }): ChildSeen => {
      if (untold !== undefined) return { name: place, verdict: "pending", because: untold };
      const key = `${plane.name}/${place}`;
      // What is not seen here may be kept from us as well as be gone.
      if (view === undefined || depth > DEEPEST || seen.size > MOST_SEEN) {
        wants.push({ key, read: true });
        return { name: place, verdict: "pending", because: livenessReason("NO_APPLICATION") };
      }
      const question = `${key} ${merged.commit} ${view.uid}`;
      const judged = assess({
        ...{ now, settleMs, graceMs, ...defined({ suspended }), ancestry: facts.ancestry, held: {}, ...before.get(question) },
        ...{
          application: view,
          intended: intended ?? view.spec,
          children: look({ ...parent, application: view }, facts, kept, wants, { seen, depth: depth + 1 }),
        },
        ...changesOf(committedSources(view.spec), committedSources(application.spec), parent),
        ...defined({ cluster: clusterOf(plane, view), kept, owner: troubleOfOwner(plane, view) }),
      });
      const { firstSeenAt, firstComparedAt, held, clockStopped } = judged;
      before.set(question, defined({ firstSeenAt, firstComparedAt, held }));
      const refresh = { reason: `${question} ${refreshReason(view, judged)}`, from: endIsPast(view, now) };
      wants.push({ key, read: judged.wantsRead === true, ...defined({ refresh: judged.wantsRefresh ? refresh : undefined }) });
      const lookAgainAt = judged.lookAgainAt === undefined ? undefined : epoch(judged.lookAgainAt);
      return { name: place, verdict: judged.verdict, because: judged.sentence, ...defined({ lookAgainAt, clockStopped }) };
    });
  }

  return {
    of(parent, facts, kept) {
      const { application } = parent;
      if (application === undefined) return { seen: [], wants: [] };
      const wants: Want[] = [];
      const own = new Set([`${application.namespace}/${application.name}`]);
      return { seen: look({ ...parent, application }, facts, kept, wants, { seen: own, depth: 1 }), wants };
    },
  };
}

/** Begins what the children want, and notes in their parent's assessment what to ask and when to look again. */
export function askForChildren(
  assessment: Assessment,
  wants: readonly Want[],
  { refresher, reader, now }: { refresher: Refresher; reader: Pick<TargetReader, "readSoon">; now: number },
): void {
  for (const { key } of wants.filter(({ read }) => read)) reader.readSoon(key);
  const asked = wants.flatMap(({ key, refresh }) =>
    refresh === undefined ? [] : { key, due: refresher.want(key, refresh.reason, refresh.from) },
  );
  if (asked.length === 0) return;
  assessment.asksFirst = { applications: asked.map(({ key }) => key), sets: [] };
  const again = Math.min(...asked.map(({ due }) => due).filter((due) => due > now));
  const { lookAgainAt } = assessment;
  if (Number.isFinite(again) && (lookAgainAt === undefined || again < epoch(lookAgainAt))) assessment.lookAgainAt = iso(again);
}

/**
 * One that follows what its parent follows must have seen the commit, and nothing else on a branch that was moved back or aside; of another the
 * spec that its parent has applied is the change.
 */
function changesOf(
  own: readonly SourceView[],
  parents: readonly SourceView[],
  { merged: { commit, at: mergedAt }, repoURL, target: { edits } }: Parent,
): { change: Change; also: Change[] } {
  const isOurs = (one: SourceView) => one.chart === undefined && normalRepo(one.repoURL) === normalRepo(repoURL);
  const followed = new Set(parents.filter(isOurs).map(({ targetRevision = "HEAD" }) => targetRevision));
  const [change = { kind: "generator", mergedAt } as const, ...also] = own
    .filter((one) => isOurs(one) && followed.has(one.targetRevision ?? "HEAD"))
    .map(({ targetRevision }): Change => {
      const back = edits.find(({ kind, forced, path }) => kind === "branch" && forced === true && namesRef(targetRevision, path));
      return { kind: "commit", commit: back?.to ?? commit, repoURL, mergedAt, ...(back && { exact: back.path }) };
    });
  return { change, also };
}
