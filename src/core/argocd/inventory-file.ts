/**
 * Reads what people print of an Argo CD with kubectl, for the CLI's offline commands. Credentials never leave this file.
 */
import { defined } from "../base/defined.ts";
import { isRecord } from "../base/is-record.ts";
import { parseJson, readYamlDocuments } from "../base/yaml-read.ts";
import type { InventoryFault } from "../reasons/problems/inventory.ts";
import { WHOLE_OBJECT_ANNOTATIONS } from "./decode/cluster.ts";
import type { ClusterView } from "./views.ts";

/** A cluster as its Secret tells it, without `data.config`. */
interface InventoryCluster extends ClusterView {
  annotations: Record<string, string>;
  /** The AppProject a project-scoped cluster belongs to. */
  project?: string;
}

/** What an inventory file holds, by kind, in the order of the file. */
export interface Inventory {
  clusters: InventoryCluster[];
  /** Application objects as printed. */
  applications: Record<string, unknown>[];
  /** ApplicationSet objects as printed. */
  applicationSets: Record<string, unknown>[];
  /** The rest of the file is still read. */
  problems: InventoryFault[];
  /** Where each is of one control plane: by its name. All that is above is then of all of them. */
  planes?: ReadonlyMap<string, Inventory>;
  /** By control plane: the labels that the server's configuration gives it. */
  planeLabels?: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** Several inventories, one for each control plane, as one. */
export function joinInventories(planes: ReadonlyMap<string, Inventory>): Inventory {
  const all = [...planes.values()];
  return {
    clusters: all.flatMap(({ clusters }) => clusters),
    applications: all.flatMap(({ applications }) => applications),
    applicationSets: all.flatMap(({ applicationSets }) => applicationSets),
    problems: all.flatMap(({ problems }) => problems),
    planes,
  };
}

/** Argo CD takes a Secret for a cluster by this label and value. */
const CLUSTER_LABEL = "argocd.argoproj.io/secret-type";

/**
 * Reads what `kubectl get … -o yaml` (or `-o json`) prints: cluster Secrets, Applications and ApplicationSets in one
 * document, several, or a List. `data` may be absent from a Secret: its own name is then the cluster's. Credentials
 * (`data.config`) never leave this function, nor do they appear in a problem.
 * @param file how to name the text in problems
 */
export function readInventory(text: string, file: string): Inventory {
  const inventory: Inventory = { clusters: [], applications: [], applicationSets: [], problems: [] };
  const documents = readDocuments(text, file, inventory.problems);
  for (const document of documents) addObject(inventory, document, file);
  dropRepeated(inventory, file);
  const found = inventory.clusters.length + inventory.applications.length + inventory.applicationSets.length;
  if (found === 0 && inventory.problems.length === 0 && documents.length > 0 && documents.every(isEmptyList)) {
    inventory.problems.push({ kind: "EmptyList", file });
  } else if (found === 0 && inventory.problems.length === 0) {
    inventory.problems.push({ kind: "NothingOfArgoCd", file, label: CLUSTER_LABEL });
  }
  return inventory;
}

function readDocuments(text: string, file: string, problems: InventoryFault[]): unknown[] {
  // JSON is YAML too, but a large `kubectl -o json` is read many times faster as what it is.
  const json = text.trimStart().startsWith("{") ? parseJson(text) : undefined;
  if (json !== undefined) return [json];
  return readYamlDocuments(text).flatMap(({ value, problem, line, column }) => {
    if (problem === undefined) return [value];
    // The lines below the first quote the text, which may be a credential.
    problems.push({ kind: "NotYaml", file: `${file}:${line}:${column}`, said: firstLine(problem) });
    return [];
  });
}

function isEmptyList(object: unknown): boolean {
  return isRecord(object) && String(object["kind"]).endsWith("List") && Array.isArray(object["items"]) && object["items"].length === 0;
}

function firstLine(message: string): string {
  return (message.split("\n")[0] ?? "").replace(/ at line \d+, column \d+:$/, "");
}

function addObject(inventory: Inventory, object: unknown, file: string): void {
  if (object === null || object === undefined) return;
  if (!isRecord(object)) {
    inventory.problems.push({ kind: "NoObject", file });
    return;
  }
  const kind = object["kind"];
  const items = object["items"];
  if (typeof kind === "string" && kind.endsWith("List") && Array.isArray(items)) {
    for (const item of items) addObject(inventory, item, file);
    return;
  }
  if (kind === "Application") inventory.applications.push(object);
  else if (kind === "ApplicationSet") inventory.applicationSets.push(object);
  else if (kind === "Secret") addCluster(inventory, object, file);
}

function addCluster(inventory: Inventory, secret: Record<string, unknown>, file: string): void {
  const metadata = isRecord(secret["metadata"]) ? secret["metadata"] : {};
  const labels = texts(metadata["labels"]);
  if (labels[CLUSTER_LABEL] !== "cluster") return;
  const own = typeof metadata["name"] === "string" ? metadata["name"] : "";
  const name = field(secret, "name") ?? own;
  if (name === "") {
    inventory.problems.push({ kind: "NoName", file });
    return;
  }
  const project = field(secret, "project");
  inventory.clusters.push(
    defined({
      name,
      server: field(secret, "server") ?? "",
      labels,
      annotations: withoutWholeObjects(texts(metadata["annotations"])),
      registered: true,
      project: project === undefined || project === "" ? undefined : project,
    }),
  );
}

function withoutWholeObjects(annotations: Record<string, string>): Record<string, string> {
  for (const key of WHOLE_OBJECT_ANNOTATIONS) delete annotations[key];
  return annotations;
}

/** `stringData` wins, as it does when the Secret is applied. */
function field(secret: Record<string, unknown>, key: "name" | "server" | "project"): string | undefined {
  const plain = isRecord(secret["stringData"]) ? secret["stringData"][key] : undefined;
  if (typeof plain === "string") return plain;
  const encoded = isRecord(secret["data"]) ? secret["data"][key] : undefined;
  return typeof encoded === "string" ? Buffer.from(encoded, "base64").toString("utf8").trim() : undefined;
}

/** Two Secrets of one cluster name cannot both be meant: the first stays. */
function dropRepeated(inventory: Inventory, file: string): void {
  const seen = new Set<string>();
  inventory.clusters = inventory.clusters.filter((cluster) => {
    const first = !seen.has(cluster.name);
    if (!first) inventory.problems.push({ kind: "Twice", file, cluster: cluster.name });
    seen.add(cluster.name);
    return first;
  });
}

function texts(raw: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(isRecord(raw) ? raw : {}).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
  );
}
