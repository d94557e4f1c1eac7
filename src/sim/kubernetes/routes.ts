import { ApiError, badRequest, notFound } from "./api-error.ts";
import { apiVersionOf, RESOURCES, type Resource } from "./types.ts";

/** Where a path leads: one object, a collection, or a document that describes the API. */
export type Route =
  | { kind: "object"; resource: Resource; namespace: string; name: string }
  | { kind: "collection"; resource: Resource; namespace: string }
  | { kind: "document"; body: unknown };

function resourceAt(group: string, version: string, plural: string): Resource {
  const found = RESOURCES.find((resource) => resource.group === group && resource.version === version && resource.plural === plural);
  if (found === undefined) throw new ApiError(404, "NotFound", "the server could not find the requested resource");
  return found;
}

function resourceList(groupVersion: string): unknown {
  const resources = RESOURCES.filter((resource) => apiVersionOf(resource) === groupVersion).map((resource) => ({
    name: resource.plural,
    singularName: resource.singular,
    namespaced: resource.namespaced,
    kind: resource.kind,
    verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
  }));
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources };
}

const ARGO = { groupVersion: "argoproj.io/v1alpha1", version: "v1alpha1" };
const APPS = { groupVersion: "apps/v1", version: "v1" };
const BATCH = { groupVersion: "batch/v1", version: "v1" };
const RBAC = { groupVersion: "rbac.authorization.k8s.io/v1", version: "v1" };

function group(name: string, version: { groupVersion: string; version: string }): Record<string, unknown> {
  return { name, versions: [version], preferredVersion: version };
}

/** Discovery, as far as kubectl and client libraries ask for it. */
function documentAt(path: string): unknown {
  switch (path) {
    case "/version":
      return { major: "1", minor: "34", gitVersion: "v1.34.0-embedded", platform: "linux/amd64" };
    case "/healthz":
    case "/readyz":
    case "/livez":
      return "ok";
    case "/api":
      return { kind: "APIVersions", versions: ["v1"] };
    case "/apis":
      return {
        kind: "APIGroupList",
        apiVersion: "v1",
        groups: [group("argoproj.io", ARGO), group("apps", APPS), group("batch", BATCH), group("rbac.authorization.k8s.io", RBAC)],
      };
    case "/apis/argoproj.io":
      return { kind: "APIGroup", apiVersion: "v1", ...group("argoproj.io", ARGO) };
    case "/apis/apps":
      return { kind: "APIGroup", apiVersion: "v1", ...group("apps", APPS) };
    case "/apis/batch":
      return { kind: "APIGroup", apiVersion: "v1", ...group("batch", BATCH) };
    case "/apis/rbac.authorization.k8s.io":
      return { kind: "APIGroup", apiVersion: "v1", ...group("rbac.authorization.k8s.io", RBAC) };
    case "/apis/rbac.authorization.k8s.io/v1":
      return resourceList("rbac.authorization.k8s.io/v1");
    case "/apis/batch/v1":
      return resourceList("batch/v1");
    case "/api/v1":
      return resourceList("v1");
    case "/apis/apps/v1":
      return resourceList("apps/v1");
    case "/apis/argoproj.io/v1alpha1":
      return resourceList("argoproj.io/v1alpha1");
    default:
      return undefined;
  }
}

/** Reads the path of a request; throws 404 in the API server's words where it leads nowhere. */
export function routeOf(pathname: string): Route {
  const path = pathname.length > 1 ? pathname.replace(/\/$/, "") : pathname;
  const body = documentAt(path);
  if (body !== undefined) return { kind: "document", body };
  const match = /^\/(?:api|apis\/([^/]+))\/([^/]+)\/(.+)$/.exec(path);
  if (match === null) throw new ApiError(404, "NotFound", "the server could not find the requested resource");
  const [, group = "", version = "", tail = ""] = match;
  const parts = tail.split("/").map(decodeURIComponent);
  // `namespaces/NAME` alone is the Namespace itself; with more behind it, a scope.
  const scoped = parts[0] === "namespaces" && parts.length > 2;
  const namespace = scoped ? (parts[1] ?? "") : "";
  const [plural = "", name, ...rest] = scoped ? parts.slice(2) : parts;
  const resource = resourceAt(group, version, plural);
  if (rest.length > 0) throw notFound(`${plural}/${rest.join("/")}`, name ?? "");
  if (name === undefined) return { kind: "collection", resource, namespace };
  if (resource.namespaced && namespace === "") throw badRequest(`${plural} "${name}" needs a namespace in the path`);
  return { kind: "object", resource, namespace, name };
}
