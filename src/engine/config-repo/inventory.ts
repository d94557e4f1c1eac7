import { type Document, LineCounter, parseAllDocuments } from "yaml";
import { decodeClusterSecret, SECRET_TYPE } from "../../core/argocd/decode/cluster.ts";
import type { ClusterView } from "../../core/argocd/views.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import { errorText } from "../../core/base/error-text.ts";
import { isRecord } from "../../core/base/is-record.ts";
import { nearest } from "../../core/base/nearest.ts";
import { apart, stepsOfYaml } from "../../core/base/pass.ts";
import { duplicateKeys, expandsTooFar, LINEAR } from "../../core/base/yaml-bounds.ts";
import type { Path, Problem, ProblemData, ProblemReason } from "../../core/reasons/problems/problem.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import type { Snapshot, SyncFiles } from "./snapshot.ts";

/** The clusters of `spec.inventory`, or why they are not known: of the first mistakes each with its place. */
export type Declared = InventoryRead | { ok: false; problems: Problem[] };

export interface InventoryRead {
  ok: true;
  /** Of one file; of several, all. */
  clusters: readonly ClusterView[];
  /** Present with `spec.inventory.files`: of each control plane that has one. */
  byPlane?: ReadonlyMap<string, readonly ClusterView[]>;
}

/** In characters. Ten thousand clusters, printed by kubectl, have half of it. */
const LARGEST = 8 * 1024 * 1024;
const MOST_CLUSTERS = 20_000;
const MOST_PROBLEMS = 20;
const APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Texts read lately, with what they hold: a commit that leaves the file as it is costs nothing. */
const READ = new BoundedMap<string, Declared>(8);

/** As of a commit; undefined: the rollout names no file, and clusters are those that Argo CD knows. */
export async function declaredAt(snapshot: Snapshot, rollout: Pick<Rollout, "inventory" | "file">): Promise<Declared | undefined> {
  return rollout.inventory === undefined ? undefined : snapshot.with((files) => declaredIn(files, rollout));
}

/** As `declaredAt`, of files that are at hand. Never throws: what cannot be read is a problem. */
export function declaredIn(files: SyncFiles, rollout: Pick<Rollout, "inventory" | "file">): Declared | undefined {
  const { file, files: byPlane } = rollout.inventory ?? {};
  if (byPlane === undefined) return file === undefined ? undefined : oneDeclared(files, rollout.file, file, ["file"]);
  const read = new Map<string, readonly ClusterView[]>();
  const problems: Problem[] = [];
  for (const [plane, own] of Object.entries(byPlane)) {
    const found = oneDeclared(files, rollout.file, own, ["files", plane]);
    if (found.ok) read.set(plane, found.clusters);
    else problems.push(...found.problems);
  }
  return problems.length > 0 ? refuse(problems) : { ok: true, clusters: [...read.values()].flat(), byPlane: read };
}

function oneDeclared(files: SyncFiles, rollout: string, file: string, inner: Path): Declared {
  try {
    const text = files.read(file);
    return text === null ? refuse([notThere(files, rollout, file, inner)]) : remembered(text, file);
  } catch (error) {
    const why = errorText(error).slice(0, 200);
    return refuse([invalid(file, { kind: "Unreadable", name: file, said: why })]);
  }
}

function notThere(files: SyncFiles, rollout: string, file: string, inner: Path): Problem {
  const near = nearest(
    file,
    files.paths().filter((path) => /\.(ya?ml|json)$/.test(path)),
  );
  return problemAt(rollout, { code: "INVENTORY_NOT_FOUND", name: file, near }, ["spec", "inventory", ...inner]);
}

function remembered(text: string, file: string): Declared {
  const key = `${file}\n${text}`;
  const known = READ.get(key);
  if (known !== undefined) return known;
  const here = () => {
    const made = readClusters(text, file);
    READ.set(key, made);
    return made;
  };
  const tooMuch = refuse([invalid(file, { kind: "Unreadable", name: file, said: "reading it takes too long" })]);
  return apart({ name: "inventory", text, rest: file, steps: () => stepsOfYaml(text), here, empty: { ok: true, clusters: [] }, tooMuch });
}

/**
 * Reads cluster Secrets as `kubectl get secrets -o yaml` (or `-o json`) prints them. In one document, several or a List: name, server and labels, nothing else. A file
 * with a credential in it is refused as a whole, and no problem quotes any of it.
 */
export function readClusters(text: string, file: string): Declared {
  if (text.length > LARGEST) {
    const [mebibytes, most] = [Math.ceil(text.length / 1024 / 1024), LARGEST / 1024 / 1024];
    return refuse([invalid(file, { kind: "TooLarge", name: file, mebibytes, most })]);
  }
  const lines = new LineCounter();
  const reader: Reader = { file, lines, clusters: new Map(), servers: new Map(), problems: [] };
  const documents = parseAllDocuments(text, { ...LINEAR, version: "1.1", lineCounter: lines });
  for (const document of documents) readDocument(reader, document as Document);
  const { problems, clusters } = reader;
  if (problems.length === 0 && clusters.size === 0) problems.push(invalid(file, { kind: "NoCluster", name: file, label: SECRET_TYPE }));
  if (clusters.size > MOST_CLUSTERS)
    problems.push(invalid(file, { kind: "TooMany", name: file, clusters: clusters.size, most: MOST_CLUSTERS }));
  return problems.length > 0 ? refuse(problems) : { ok: true, clusters: [...clusters.values()] };
}

interface Reader {
  file: string;
  lines: LineCounter;
  clusters: Map<string, ClusterView>;
  servers: Map<string, string>;
  problems: Problem[];
}

function readDocument(reader: Reader, document: Document): void {
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = reader.lines.linePos(error.pos[0]);
    // What the parser says may quote the text, which may be a credential.
    reader.problems.push({ ...invalid(reader.file, { kind: "NotYaml", name: reader.file, said: error.code }), line, column: col });
    return;
  }
  const [twice] = duplicateKeys(document);
  if (twice !== undefined) {
    const { line, col } = reader.lines.linePos(twice);
    reader.problems.push({ ...invalid(reader.file, { kind: "NotYaml", name: reader.file, said: "DUPLICATE_KEY" }), line, column: col });
    return;
  }
  let object: unknown;
  try {
    if (expandsTooFar(document)) throw new RangeError("aliases stand for too much");
    object = document.toJS({ maxAliasCount: -1 });
  } catch {
    reader.problems.push(invalid(reader.file, { kind: "Aliases", name: reader.file }));
    return;
  }
  readObject(reader, document, object, []);
}

function readObject(reader: Reader, document: Document, object: unknown, path: Path): void {
  if (object === null || object === undefined || reader.problems.length >= MOST_PROBLEMS) return;
  if (isRecord(object) && typeof object["kind"] === "string" && object["kind"].endsWith("List") && Array.isArray(object["items"])) {
    for (const [i, item] of object["items"].entries()) readObject(reader, document, item, [...path, "items", i]);
    return;
  }
  const found = readOne(reader, object);
  if (found !== undefined) tell(reader, document, path, found);
}

/** What is wrong at a path inside an object. */
interface Fault {
  inner: Path;
  reason: ProblemReason;
}

function fault(data: ProblemData<"INVENTORY_INVALID">, inner: Path = []): Fault {
  return { inner, reason: { code: "INVENTORY_INVALID", ...data } };
}

function readOne(reader: Reader, object: unknown): Fault | undefined {
  if (!isRecord(object)) return fault({ kind: "NoObject" });
  if (typeof object["kind"] !== "string") return fault({ kind: "NoKind" });
  // kubectl prints several kinds at once; only cluster Secrets are of interest.
  return object["kind"] === "Secret" ? readSecret(reader, object) : undefined;
}

function readSecret(reader: Reader, secret: Record<string, unknown>): Fault | undefined {
  const metadata = isRecord(secret["metadata"]) ? secret["metadata"] : {};
  const own = typeof metadata["name"] === "string" ? short(metadata["name"]) : undefined;
  const credential = credentialIn(secret, metadata);
  // Its own place is not named: what shows the line would show them.
  if (credential !== undefined) return { inner: [], reason: { code: "INVENTORY_CREDENTIALS", secret: own, holds: credential } };
  const labels = isRecord(metadata["labels"]) ? metadata["labels"] : {};
  if (labels[SECRET_TYPE] !== "cluster") return undefined;
  const [unquoted] = Object.entries(labels).find(([, value]) => typeof value !== "string") ?? [];
  if (unquoted !== undefined) return fault({ kind: "LabelType", label: short(unquoted), secret: own }, ["metadata", "labels", unquoted]);
  const cluster = decodeClusterSecret(secret);
  return cluster === undefined ? fault({ kind: "NoName", secret: own }) : addCluster(reader, cluster);
}

function addCluster({ clusters, servers }: Reader, cluster: ClusterView): Fault | undefined {
  const { name, server } = cluster;
  if (clusters.has(name)) return fault({ kind: "Twice", cluster: short(name) });
  const other = server === "" ? undefined : servers.get(server);
  if (other !== undefined) return fault({ kind: "SameServer", first: short(other), second: short(name) });
  clusters.set(name, cluster);
  if (server !== "") servers.set(server, name);
  return undefined;
}

function short(text: string): string {
  return text.slice(0, 100);
}

/** Any Secret's data but what says which cluster it is; `last-applied-configuration` holds the whole Secret once more. */
function credentialIn(secret: Record<string, unknown>, metadata: Record<string, unknown>): string | undefined {
  for (const part of ["data", "stringData"]) {
    const data = secret[part];
    if (!isRecord(data)) continue;
    const key = Object.keys(data).find((name) => !["name", "server", "project"].includes(name));
    if (key !== undefined) return `${part}.${short(key)}`;
  }
  const annotations = metadata["annotations"];
  return isRecord(annotations) && annotations[APPLIED] !== undefined ? `annotation ${APPLIED}` : undefined;
}

/** At its place, or at the nearest one above it that stands in the file. */
function tell({ file, lines, problems }: Reader, document: Document, object: Path, { inner, reason }: Fault): void {
  const path = [...object, ...inner];
  let node: unknown;
  for (let depth = path.length; depth >= 0 && !hasRange(node); depth--)
    node = depth === 0 ? document.contents : document.getIn(path.slice(0, depth), true);
  const { line, col } = hasRange(node) ? lines.linePos(node.range[0]) : { line: 1, col: 1 };
  problems.push({ ...problemAt(file, reason, path), line, column: col });
}

function hasRange(node: unknown): node is { range: [number, number, number] } {
  return typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range);
}

function refuse(problems: Problem[]): Declared {
  return { ok: false, problems };
}

function invalid(file: string, data: ProblemData<"INVENTORY_INVALID">): Problem {
  return problemAt(file, { code: "INVENTORY_INVALID", ...data }, []);
}

function problemAt(file: string, reason: ProblemReason, path: Path): Problem {
  return { ...reason, severity: "error", file, line: 1, column: 1, path };
}
