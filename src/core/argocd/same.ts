/**
 * Says whether two parts of Applications are the same to Argo CD: repositories, sources, destinations, whole specs. Called by decoding and
 * by liveness.
 */
import { isRecord } from "../base/is-record.ts";
import { child, fields, word } from "./decode/lenient.ts";
import { decodeSource, drySourceOf, hydratedSource } from "./decode/source.ts";
import type { Intended } from "./liveness/types.ts";
import type { ClusterView, DestinationView, SourceView } from "./views.ts";

const DEFAULT_PORT: Record<string, string> = { https: "443", http: "80", ssh: "22", git: "9418" };
const known = new Map<string, string>();

/**
 * A repository URL without what does not tell repositories apart: scheme, user, default port, `.git`, a final slash and
 * the case of the host. `git@HOST:PATH` and `ssh://git@HOST/PATH` are one.
 */
export function normalRepo(url: string): string {
  const found = known.get(url);
  if (found !== undefined) return found;
  const normal = normalise(url.trim());
  // Few URLs serve a whole fleet; a hostile one must not make the memory of them grow.
  if (known.size >= 1000) known.clear();
  known.set(url, normal);
  return normal;
}

function normalise(url: string): string {
  const full = /^([a-z][a-z0-9+.-]*):\/\/(?:[^@/]*@)?([^/:]*|\[[^\]]*\])(?::(\d+))?(?:\/(.*))?$/is.exec(url);
  if (full !== null) {
    const [, scheme = "", host = "", port = "", path = ""] = full;
    const shown = port === "" || DEFAULT_PORT[scheme.toLowerCase().replace(/^git\+/, "")] === port ? "" : `:${port}`;
    return `${host.toLowerCase()}${shown}/${tidy(path)}`;
  }
  const short = /^(?:[^@/:]+@)?([^/:]+):(?!\/\/)(.*)$/s.exec(url);
  if (short !== null) return `${(short[1] ?? "").toLowerCase()}/${tidy(short[2] ?? "")}`;
  const slash = url.indexOf("/");
  // No scheme at all, as for charts in an OCI registry: the host is what stands before the first slash.
  return slash > 0 ? `${url.slice(0, slash).toLowerCase()}/${tidy(url.slice(slash + 1))}` : tidy(url);
}

function tidy(path: string): string {
  return path
    .replace(/^\/+/, "")
    .replace(/(?<!\/)\/+$/, "")
    .replace(/\.git$/i, "");
}

/** Position by position; what Argo CD takes for the same is the same. */
export function equalSources(a: readonly SourceView[], b: readonly SourceView[]): boolean {
  return a === b || (a.length === b.length && a.every((source, i) => equalSource(source, b[i] as SourceView)));
}

/** All of a spec that liveness compares. */
export function equalIntent(a: Intended, b: Intended, cluster?: ClusterView): boolean {
  return (
    equalSources(a.sources, b.sources) &&
    equalDestination(a.destination, b.destination, cluster) &&
    equalHydrator(a.sourceHydrator, b.sourceHydrator) &&
    sameProject(a.project, b.project) &&
    sameValue(a.ignoreDifferences, b.ignoreDifferences)
  );
}

/**
 * A whole `sourceHydrator`, as written: dry source, sync source and where to hydrate to. None on both sides is the same. Argo CD
 * compares no more than the sync source, so what the dry one says shows in no other field of a status.
 */
export function equalHydrator(a: unknown, b: unknown): boolean {
  if (!isRecord(a) || !isRecord(b)) return isZero(a) && isZero(b);
  const { drySource: dryA, ...restA } = a;
  const { drySource: dryB, ...restB } = b;
  return equalSource(decodeSource(dryA), decodeSource(dryB)) && sameValue(restA, restB);
}

/** Where a `sourceHydrator` writes to, and the dry revision it follows, as words that are equal where they are; undefined where there is none. */
export function hydrationOf(sourceHydrator: unknown): { to: string; from: string } | undefined {
  const dry = drySourceOf(sourceHydrator);
  if (dry === undefined) return undefined;
  const hydrator = fields(sourceHydrator);
  const branch = word(child(hydrator, "hydrateTo"), "targetBranch") ?? word(child(hydrator, "syncSource"), "targetBranch") ?? "";
  const repoURL = hydratedSource(hydrator).repoURL;
  return { to: `${normalRepo(repoURL)} ${branch}`, from: `${normalRepo(dry.repoURL)} ${dry.targetRevision ?? "HEAD"}` };
}

/** Argo CD takes an Application without a project for one of `default`. */
export function sameProject(a: string | undefined, b: string | undefined): boolean {
  return (a || "default") === (b || "default");
}

function equalSource(a: SourceView, b: SourceView): boolean {
  if (a === b) return true;
  return (
    (a.repoURL === b.repoURL || normalRepo(a.repoURL) === normalRepo(b.repoURL)) &&
    (a.targetRevision ?? "HEAD") === (b.targetRevision ?? "HEAD") &&
    (a.chart ?? "") === (b.chart ?? "") &&
    (a.ref ?? "") === (b.ref ?? "") &&
    equalPath(a.path, b.path) &&
    sameValue(a.rest, b.rest)
  );
}

function equalPath(a = "", b = ""): boolean {
  return a === b || plainPath(a) === plainPath(b);
}

function plainPath(path: string): string {
  return path.replace(/^\.?\/+/, "").replace(/(?<!\/)\/+$/, "") || ".";
}

/**
 * Where names stand on both sides names count, else servers; a name on one side and a server on the other are the same
 * only if the cluster that is known has both.
 */
export function equalDestination(a: DestinationView, b: DestinationView, cluster?: ClusterView): boolean {
  if (a === b) return true;
  if ((a.namespace ?? "") !== (b.namespace ?? "")) return false;
  if (a.name !== undefined && b.name !== undefined) return a.name === b.name;
  if (a.server !== undefined && b.server !== undefined) return plainServer(a.server) === plainServer(b.server);
  const name = a.name ?? b.name;
  const server = a.server ?? b.server;
  if (name === undefined && server === undefined) return true;
  if (name === undefined || server === undefined) return false;
  return cluster !== undefined && cluster.name === name && plainServer(cluster.server) === plainServer(server);
}

export function plainServer(server: string): string {
  return server.replace(/(?<!\/)\/+$/, "");
}

/** Deeper than any real object: whoever nests further is not the same as anything. */
const MAX_DEPTH = 100;

/** How an absent field compares: `fields` of Argo CD's types; `plugin`, below one; `values`, free-form ones. */
type Mode = "fields" | "plugin" | "values";

/**
 * Equal as Kubernetes stores them: an absent field and its zero value (`""`, `0`, `false`, `{}`, `[]`) are one. Not so in Helm's
 * values, in labels and in a plugin's parameters, where `enabled: false` and nothing at all give other manifests.
 */
export function sameValue(a: unknown, b: unknown): boolean {
  return same(a, b, 0, "fields");
}

function same(a: unknown, b: unknown, depth: number, mode: Mode): boolean {
  if (a === b) return true;
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(a) && Array.isArray(b)) return sameLists(a, b, depth, mode);
  if (isRecord(a) && isRecord(b)) return sameObjects(a, b, depth, mode);
  return mode === "values" ? isNothing(a) && isNothing(b) : isZero(a) && isZero(b);
}

function sameLists(a: readonly unknown[], b: readonly unknown[], depth: number, mode: Mode): boolean {
  return a.length === b.length && a.every((one, i) => same(one, b[i], depth + 1, mode));
}

function sameObjects(a: Record<string, unknown>, b: Record<string, unknown>, depth: number, mode: Mode): boolean {
  for (const key of Object.keys(a)) {
    if (!same(a[key], Object.hasOwn(b, key) ? b[key] : undefined, depth + 1, modeBelow(key, mode))) return false;
  }
  for (const key of Object.keys(b)) {
    if (!Object.hasOwn(a, key) && !same(undefined, b[key], depth + 1, modeBelow(key, mode))) return false;
  }
  return true;
}

/** Maps whose keys people choose, and fields in which Argo CD itself tells an empty value from none. */
const FREE_FORM: ReadonlySet<string> = new Set(["valuesObject", "commonLabels", "commonAnnotations"]);

function modeBelow(key: string, mode: Mode): Mode {
  if (mode === "values" || FREE_FORM.has(key) || (mode === "plugin" && key === "parameters")) return "values";
  return mode === "plugin" || key === "plugin" ? "plugin" : mode;
}

/** A `null` among values is taken out by the patch with which the ApplicationSet controller writes; a map without entries adds none. */
function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (isRecord(value) && Object.values(value).every(isNothing));
}

function isZero(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}
