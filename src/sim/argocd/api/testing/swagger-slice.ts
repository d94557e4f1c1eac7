/**
 * The shapes of answers that the adapter reads, written down from Argo CD's published API, for checkouts that do not have
 * the whole of it beside them. Only the fields that are read or served here.
 */
type Json = Record<string, unknown>;

const text = { type: "string" };
const flag = { type: "boolean" };
const ref = (name: string) => ({ $ref: `#/definitions/${name}` });
const list = (items: Json) => ({ type: "array", items });
const object = (properties: Json) => ({ type: "object", properties });
const answers = (name: string) => ({ responses: { "200": { schema: ref(name) } } });
const any = { type: "object" };

export const SWAGGER_SLICE: Json = {
  paths: {
    "/api/v1/applications": { get: answers("applications") },
    "/api/v1/applications/{name}": { get: answers("application") },
    "/api/v1/applications/{name}/syncwindows": { get: answers("windows") },
    "/api/v1/applications/{applicationName}/resource-tree": { get: answers("tree") },
    "/api/v1/applications/{applicationName}/managed-resources": { get: answers("managed") },
    "/api/v1/applications/{name}/manifests": { get: answers("manifests") },
    "/api/v1/applications/{name}/resource": { get: answers("resource") },
    "/api/v1/applications/{name}/resource/actions": { get: answers("actions") },
    "/api/v1/applications/{name}/resource/actions/v2": { post: answers("empty") },
    "/api/v1/applications/{name}/sync": { post: answers("application") },
    "/api/v1/applicationsets": { get: answers("applicationsets") },
    "/api/v1/applicationsets/{name}": { get: answers("application") },
    "/api/v1/applicationsets/generate": { post: answers("generated") },
    "/api/v1/clusters": { get: answers("clusters") },
    "/api/v1/stream/applications": { get: { responses: { "200": { schema: object({ result: ref("event"), error: any }) } } } },
    "/api/v1/stream/applicationsets": { get: { responses: { "200": { schema: object({ result: ref("setEvent"), error: any }) } } } },
  },
  definitions: {
    head: object({ resourceVersion: text, continue: text }),
    application: object({ metadata: any, spec: any, status: any, operation: any }),
    applications: object({ metadata: ref("head"), items: list(ref("application")) }),
    applicationsets: object({ metadata: ref("head"), items: list(ref("application")) }),
    event: object({ type: text, application: ref("application") }),
    setEvent: object({ type: text, applicationSet: ref("application") }),
    window: object({ kind: text, schedule: text, duration: text, manualSync: flag }),
    windows: object({ assignedWindows: list(ref("window")), activeWindows: list(ref("window")), canSync: flag }),
    resource: object({ manifest: text }),
    managed: object({ items: list(object({ kind: text, name: text, liveState: text, targetState: text })) }),
    manifests: object({ manifests: list(text), namespace: text, revision: text, sourceType: text }),
    action: object({ name: text, disabled: flag, params: list(any) }),
    actions: object({ actions: list(ref("action")) }),
    empty: object({}),
    generated: object({ applications: list(ref("application")) }),
    resourceRef: object({ group: text, version: text, kind: text, namespace: text, name: text, uid: text }),
    node: object({
      ...object({ group: text, version: text, kind: text, namespace: text, name: text, uid: text }).properties,
      resourceVersion: text,
      images: list(text),
      parentRefs: list(ref("resourceRef")),
      health: object({ status: text, message: text }),
    }),
    tree: object({ nodes: list(ref("node")) }),
    connection: object({ status: text, message: text, attemptedAt: text }),
    cluster: object({
      name: text,
      server: text,
      labels: { type: "object", additionalProperties: text },
      annotations: { type: "object", additionalProperties: text },
      project: text,
      info: object({ connectionState: ref("connection"), applicationsCount: { type: "integer" } }),
    }),
    clusters: object({ metadata: ref("head"), items: list(ref("cluster")) }),
  },
};
