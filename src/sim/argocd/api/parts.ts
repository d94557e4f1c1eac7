import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../../core/base/time.ts";
import type { Store } from "../../kubernetes/store.ts";
import type { KubeObject } from "../../kubernetes/types.ts";
import type { ConnectionInfo } from "../http.ts";
import type { Application } from "../types.ts";
import { grpcError } from "./answers.ts";
import { type ApiAccount, may } from "./rbac.ts";
import type { RolloutsBackend } from "./rollouts.ts";
import type { Streams } from "./streams.ts";

/** What the API serves from. */
export interface ApiParts {
  store: Store;
  clock: Clock;
  /** Argo CD's own. */
  namespace: string;
  streams: Streams;
  clusters(): ConnectionInfo[];
  rollouts: RolloutsBackend;
  /** Whether nothing gets to the cluster of an Application; absent: everything does. */
  isCut?(app: Application): boolean;
  /** What stands for an Application's objects, as JSON: in its cluster, and as it was compared last. */
  managed?(app: Application): Promise<{ live: string[]; target: string[] }>;
  /** What it renders to at these revisions. Throws with the words of whoever renders. */
  manifests?(app: Application, revisions: readonly string[]): Promise<string[]>;
  /** The Applications of an ApplicationSet; absent: this server cannot generate. Throws with the generator's words. */
  generate?(set: KubeObject): Promise<KubeObject[]>;
}

/** One request that was let in. */
export interface Call extends ApiParts {
  account: ApiAccount;
  request: IncomingMessage;
  response: ServerResponse;
  query: URLSearchParams;
  /** What stood in the path's places. */
  names: readonly string[];
}

/** As policies name it: the namespace stands between where it is not Argo CD's own. */
export function objectOf({ namespace: own }: ApiParts, project: string, { metadata }: KubeObject): string {
  const { namespace = own, name } = metadata;
  return namespace === own ? `${project}/${name}` : `${project}/${namespace}/${name}`;
}

export function projectOf(object: KubeObject): string {
  const spec = object["spec"] as { project?: string; template?: { spec?: { project?: string } } } | undefined;
  return spec?.project ?? spec?.template?.spec?.project ?? "default";
}

/** `projects` and `project` mean the same. Empty: all. */
export function projectsOf(query: URLSearchParams): string[] {
  return [...query.getAll("projects"), ...query.getAll("project")];
}

/**
 * An Application the account may get. Without its project one that is missing is refused like one that is not allowed, so that
 * nobody learns which there are.
 */
export function applicationOf(call: Call, name: string, action: string, fields?: { appNamespace?: string; project?: string }): Application {
  const { store, account, query, namespace: own } = call;
  const namespace = (fields?.appNamespace ?? query.get("appNamespace") ?? "") || own;
  const project = (fields?.project ?? projectsOf(query)[0] ?? "") || undefined;
  const denied = (object: string) => grpcError(7, `permission denied: applications, ${action}, ${object}, sub: ${account.name}`);
  if (project !== undefined) {
    const object = namespace === own ? `${project}/${name}` : `${project}/${namespace}/${name}`;
    if (!may(account, "applications", action, object)) throw denied(object);
  }
  const found = store.get("applications", namespace, name);
  if (found === undefined) {
    if (project === undefined) throw grpcError(7, "permission denied");
    throw grpcError(5, `applications.argoproj.io "${name}" not found`);
  }
  const object = objectOf(call, projectOf(found), found);
  if (!may(account, "applications", action, object)) throw project === undefined ? grpcError(7, "permission denied") : denied(object);
  if (project !== undefined && project !== projectOf(found)) throw grpcError(5, `applications.argoproj.io "${name}" not found`);
  return found as Application;
}

/** Typed objects of an informer have lost their kind; Argo CD never shows managed fields. */
export function shown({ apiVersion: _a, kind: _k, ...object }: KubeObject): Record<string, unknown> {
  const { managedFields: _m, ...metadata } = object.metadata;
  return { ...object, metadata };
}
