import { defined } from "../../base/defined.ts";
import { plainServer } from "../same.ts";
import type { ClusterView } from "../views.ts";
import { child, fields, labels, own, time, word } from "./lenient.ts";

export const SECRET_TYPE = "argocd.argoproj.io/secret-type";
export const IN_CLUSTER_SERVER = "https://kubernetes.default.svc";

/** Annotations in which tools keep the whole object they applied, and so its credential: no template is given them. */
export const WHOLE_OBJECT_ANNOTATIONS = [
  "kubectl.kubernetes.io/last-applied-configuration",
  "kapp.k14s.io/original",
  "objectset.rio.cattle.io/applied",
  "banzaicloud.com/last-applied",
] as const;

/**
 * A cluster Secret of Argo CD without anything secret: only name, server, project, labels and annotations are ever read out of
 * it; `data.config` is not looked at. `data` may be missing altogether (an inventory file): the Secret's own name serves
 * then. undefined: it names no cluster.
 */
export function decodeClusterSecret(raw: unknown): ClusterView | undefined {
  const object = fields(raw);
  const metadata = child(object, "metadata");
  const data = child(object, "data");
  const plain = child(object, "stringData");
  const server = plainServer(word(plain, "server") ?? base64(word(data, "server")) ?? "");
  const name = word(plain, "name") ?? base64(word(data, "name"));
  const bare = own(object, "data") == null && own(object, "stringData") == null;
  const shown = name ?? (bare ? word(metadata, "name") : server === "" ? undefined : server);
  if (shown === undefined) return undefined;
  return defined({
    name: shown,
    server,
    labels: clusterLabels(labels(metadata, "labels")),
    annotations: clusterAnnotations(metadata),
    project: word(plain, "project") ?? base64(word(data, "project")),
    registered: true,
  });
}

/** An item of Argo CD's `GET /api/v1/clusters`. undefined: it names no cluster. */
export function decodeClusterItem(raw: unknown): ClusterView | undefined {
  const object = fields(raw);
  const server = plainServer(word(object, "server") ?? "");
  const name = word(object, "name") ?? (server === "" ? undefined : server);
  if (name === undefined) return undefined;
  const connection = connectionOf(child(object, "info"), "connectionState") ?? connectionOf(object, "connectionState");
  return defined({
    name,
    server,
    labels: clusterLabels(labels(object, "labels")),
    annotations: clusterAnnotations(object),
    project: word(object, "project"),
    registered: true,
    connection,
  });
}

type Connection = NonNullable<ClusterView["connection"]>;

function connectionOf(object: Record<string, unknown>, key: string): Connection | undefined {
  const state = fields(own(object, key));
  const status = word(state, "status");
  if (status === undefined) return undefined;
  // Anything else that a later Argo CD may say is as good as not known.
  const known: Connection["status"] = status === "Successful" || status === "Failed" ? status : "Unknown";
  return defined({ status: known, message: word(state, "message")?.slice(0, 500) ?? "", attemptedAt: time(state, "attemptedAt") });
}

/** As Argo CD's own list of clusters gives them. Texts only; undefined: it has none. */
function clusterAnnotations(of: Record<string, unknown>): Record<string, string> | undefined {
  const all = Object.entries(fields(own(of, "annotations"))).filter(
    (entry): entry is [string, string] =>
      typeof entry[1] === "string" && !(WHOLE_OBJECT_ANNOTATIONS as readonly string[]).includes(entry[0]),
  );
  return all.length === 0 ? undefined : Object.fromEntries(all);
}

function clusterLabels(all: Record<string, string>): Record<string, string> {
  delete all[SECRET_TYPE];
  return all;
}

/** Text of base64 as Kubernetes writes it; undefined where it is none or is empty. */
function base64(text: string | undefined): string | undefined {
  if (text === undefined || !/^[A-Za-z0-9+/=\s]+$/.test(text)) return undefined;
  const decoded = Buffer.from(text, "base64").toString("utf8").trim();
  return decoded === "" ? undefined : decoded;
}
