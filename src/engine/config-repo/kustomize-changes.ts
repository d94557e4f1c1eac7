/** Says whether a kustomization changes what an Application or a set is on its way to the cluster: what its file says is then not what lives. */
import { posix } from "node:path";
import { isRecord, listAt, recordOf } from "../../core/base/is-record.ts";
import { madeOnce, type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { readManifests, readYamlDocuments } from "../../core/base/yaml-read.ts";
import { kustomizationsIn, takersOf } from "./kustomize.ts";

interface Change {
  /** Of the kustomization that makes it. */
  folder: string;
  /** Its field there, such as `namePrefix`. */
  by: string;
}

/** Of an Application, what tells which one it is, where it goes and what it reads; of a set, what its Applications are made of. */
const IDENTITY = /^(?:$|metadata$|metadata\.(?:name|namespace|labels)$|spec$|spec\.(?:sources?|destination)(?:[.[]|$))/;
const OF_SET = /^(?:$|metadata$|metadata\.(?:name|namespace)$|spec$|spec\.(?:generators|templatePatch|goTemplate)(?:[.[]|$))/;
const IN_SET = "spec.template";
const LABEL = "metadata.labels.";

/** The first change that any kustomization which passes the file on makes to an Application or a set in it; undefined: none. */
export function changeOf(files: RepoFiles, file: string, application: Record<string, unknown>): Change | undefined {
  const kustomizations = kustomizationsIn(files);
  for (const folder of takersOf(kustomizations, file)) {
    for (const own of [folder, ...(kustomizations.get(folder)?.components ?? [])]) {
      const by = changedIn(files, own, application);
      if (by !== undefined) return { folder: own, by };
    }
  }
  return undefined;
}

function changedIn(files: RepoFiles, folder: string, application: Record<string, unknown>): string | undefined {
  const own = kustomizationAt(files, folder);
  const metadata = recordOf(application["metadata"]);
  for (const field of ["namePrefix", "nameSuffix"]) if (typeof own[field] === "string" && own[field] !== "") return field;
  const { namespace } = own;
  if (typeof namespace === "string" && namespace !== "" && namespace !== (metadata["namespace"] ?? "argocd")) return "namespace";
  if (relabels(own, labelsOf(application))) return own["commonLabels"] === undefined ? "labels" : "commonLabels";
  const patched = ["patches", "patchesJson6902", "patchesStrategicMerge"].find((field) =>
    listAt(own[field]).some((patch) => patches(files, folder, patch, application)),
  );
  if (patched !== undefined) return patched;
  if (listAt(own["replacements"]).some((one) => replaces(files, folder, one, application))) return "replacements";
  return listAt(own["transformers"]).length > 0 ? "transformers" : undefined;
}

/** Each Application of a folder asks for the same one. */
function kustomizationAt(files: RepoFiles, folder: string): Record<string, unknown> {
  const all = madeOnce(files, readOnes);
  const own = all.get(folder) ?? readManifests(readOrNull(files, kustomizationsIn(files).get(folder)?.file ?? "") ?? "")[0] ?? {};
  all.set(folder, own);
  return own;
}

function readOnes(): Map<string, Record<string, unknown>> {
  return new Map();
}

/** A label that is there gets another value; one that is new leaves what is selected by as it is. */
function relabels({ commonLabels, labels }: Record<string, unknown>, there: Record<string, unknown>): boolean {
  const all = [commonLabels, ...listAt(labels).map((one) => recordOf(one)["pairs"])];
  return all.some((pairs) => Object.entries(recordOf(pairs)).some(([key, value]) => there[key] !== undefined && there[key] !== value));
}

function patches(files: RepoFiles, folder: string, patch: unknown, application: Record<string, unknown>): boolean {
  const { target, patch: inline, path } = typeof patch === "string" ? textOrPath(patch) : recordOf(patch);
  if (isRecord(target) && !isMeant(target, application)) return false;
  const text = typeof inline === "string" ? inline : typeof path === "string" ? readOrNull(files, posix.join(folder, path)) : null;
  // What stands elsewhere may change anything.
  if (text === null) return true;
  return bodiesOf(text).some((body) =>
    Array.isArray(body)
      ? body.some((op) => recordOf(op)["op"] !== "test" && isIdentity(dotted(recordOf(op)["path"]), application))
      : merges(recordOf(body), isRecord(target), application),
  );
}

/** `told`: a selector says already that the Application is meant. */
function merges(body: Record<string, unknown>, told: boolean, application: Record<string, unknown>): boolean {
  const metadata = recordOf(body["metadata"]);
  if (!told && !isMeant({ kind: body["kind"], name: metadata["name"] }, application)) return false;
  const spec = recordOf(body["spec"]);
  const { generators, templatePatch, template } = spec;
  const { source, sources, destination } = isSet(application) ? recordOf(recordOf(template)["spec"]) : spec;
  const { name, labels } = recordOf(recordOf(template)["metadata"]);
  const ofSet = isSet(application) ? [generators, templatePatch, name, labels] : [];
  const isTouched = [body["$patch"], source, sources, destination, ...ofSet].some((one) => one !== undefined);
  return isTouched || relabels({ commonLabels: metadata["labels"] }, labelsOf(application));
}

function isSet({ kind }: Record<string, unknown>): boolean {
  return kind === "ApplicationSet";
}

function isIdentity(path: string, application: Record<string, unknown>): boolean {
  if (isSet(application)) {
    const inside = path.startsWith(`${IN_SET}.`) ? path.slice(IN_SET.length + 1) : undefined;
    return inside === undefined ? path === IN_SET || OF_SET.test(path) : IDENTITY.test(inside);
  }
  if (!path.startsWith(LABEL)) return IDENTITY.test(path);
  return Object.hasOwn(labelsOf(application), path.slice(LABEL.length).replaceAll("~1", "/"));
}

/** By which stages select: of a set's Applications they stand in its template. */
function labelsOf(application: Record<string, unknown>): Record<string, unknown> {
  if (isSet(application)) return {};
  return recordOf(recordOf(application["metadata"])["labels"]);
}

/** An entry of `patchesStrategicMerge` is either. */
function textOrPath(entry: string): Record<string, unknown> {
  return entry.includes("\n") ? { patch: entry } : { path: entry };
}

/** Operations are one list; patches that are merged, a document each. */
function bodiesOf(text: string): unknown[] {
  return readYamlDocuments(text).map(({ value }) => value);
}

function dotted(path: unknown): string {
  return typeof path !== "string" ? "" : path.startsWith("/") ? path.slice(1).replaceAll("/", ".") : path;
}

/** A selector of kustomize's: patterns that match as a whole, and what it leaves out is any. */
function isMeant(selector: Record<string, unknown>, { kind, metadata }: Record<string, unknown>): boolean {
  const { name, namespace } = recordOf(metadata);
  return mayMatch(selector["kind"], kind) && mayMatch(selector["name"], name) && mayMatch(selector["namespace"], namespace ?? "argocd");
}

/** Plain words, `.*` and `|` are understood; whatever else a pattern holds may match. */
function mayMatch(pattern: unknown, value: unknown): boolean {
  if (typeof pattern !== "string" || pattern === "" || typeof value !== "string") return true;
  const choices = pattern.split("|");
  return choices.some((choice) => {
    const pieces = choice.replace(/^\^/, "").replace(/\$$/, "").split(".*");
    const [first = "", ...others] = pieces;
    if (pieces.some((piece) => /[\\()[\]{}+*?^$]/.test(piece))) return true;
    if (others.length === 0) return first === value;
    return value.startsWith(first) && value.endsWith(others.at(-1) ?? "");
  });
}

function replaces(files: RepoFiles, folder: string, entry: unknown, application: Record<string, unknown>): boolean {
  const { path } = recordOf(entry);
  const text = typeof path === "string" ? readOrNull(files, posix.join(folder, path)) : undefined;
  if (text === null) return true;
  const all = text === undefined ? [entry] : bodiesOf(text).flat();
  const targets = all.flatMap((one) => listAt(recordOf(one)["targets"])).map(recordOf);
  return targets.some(
    ({ select, fieldPaths }) =>
      isMeant(recordOf(select), application) && listAt(fieldPaths).some((field) => isIdentity(dotted(field), application)),
  );
}
