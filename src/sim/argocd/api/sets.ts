import { errorText } from "../../../core/base/error-text.ts";
import type { KubeObject } from "../../kubernetes/types.ts";
import { GrpcError, grpcError, jsonBody, send } from "./answers.ts";
import { type Call, objectOf, projectOf, projectsOf, shown } from "./parts.ts";
import { enforce, may } from "./rbac.ts";

function wanted(call: Call, namespace: string): (object: KubeObject) => boolean {
  const projects = projectsOf(call.query);
  return (object) => {
    const project = projectOf(object);
    if (namespace !== "" && object.metadata.namespace !== namespace) return false;
    if (projects.length > 0 && !projects.includes(project)) return false;
    return may(call.account, "applicationsets", "get", objectOf(call, project, object));
  };
}

export function listSets(call: Call): void {
  const items = call.store.list("applicationsets").filter(wanted(call, call.query.get("appsetNamespace") ?? ""));
  send(call.response, 200, { metadata: { resourceVersion: String(call.store.revision()) }, items: items.map(shown) });
}

export function getSet(call: Call): void {
  const [name = ""] = call.names;
  const found = call.store.get("applicationsets", call.query.get("appsetNamespace") || call.namespace, name);
  if (found === undefined) throw grpcError(5, `applicationsets.argoproj.io "${name}" not found`);
  enforce(call.account, "applicationsets", "get", objectOf(call, projectOf(found), found));
  send(call.response, 200, shown(found));
}

export function streamSets(call: Call): void {
  const asked = call.query.get("resourceVersion") ?? "";
  const from = asked === "" ? undefined : Number(asked) || 0;
  const wants = wanted(call, call.query.get("appSetNamespace") ?? "");
  call.streams.open(call.response, { field: "applicationSet", plural: "applicationsets", from, wants, show: shown });
}

/** A preview that writes nothing, but wants the right to create: whoever may ask it could read with its generators. */
export async function generateSet(call: Call): Promise<void> {
  const { applicationSet } = await jsonBody(call.request);
  const set = applicationSet as KubeObject | undefined;
  if (set?.metadata?.name === undefined) throw grpcError(3, "error creating ApplicationSets: ApplicationSets is nil in request");
  const object = { ...set, metadata: { ...set.metadata, namespace: set.metadata.namespace ?? call.namespace } };
  const project = projectOf(object);
  if (project.includes("{{")) throw grpcError(3, "the Argo CD ApplicationSet Project field should not be templated");
  enforce(call.account, "applicationsets", "create", objectOf(call, project, object));
  if (call.generate === undefined) throw grpcError(12, "unknown method Generate");
  let applications: KubeObject[];
  try {
    applications = await call.generate(object);
  } catch (error) {
    if (error instanceof GrpcError) throw error;
    throw grpcError(13, `unable to generate Applications of ApplicationSet: ${errorText(error)}`);
  }
  send(call.response, 200, { applications: applications.map(shown) });
}
