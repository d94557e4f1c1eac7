import { compareText } from "../../../core/base/compare-text.ts";
import { labelSelector } from "../../kubernetes/selectors.ts";
import type { KubeObject } from "../../kubernetes/types.ts";
import { grpcError, send } from "./answers.ts";
import { type ApiParts, applicationOf, type Call, objectOf, projectOf, projectsOf, shown } from "./parts.ts";
import { may } from "./rbac.ts";

const REFRESH = "argocd.argoproj.io/refresh";
const PATIENCE_MS = 60_000;

/** Which Applications a query is about, of those the account may get. The others are left out, never refused. */
function wanted(call: Call): (object: KubeObject) => boolean {
  const { query, account } = call;
  const labels = labelSelector(query.get("selector") ?? "");
  const projects = projectsOf(query);
  const namespace = query.get("appNamespace") ?? "";
  const name = query.get("name") ?? "";
  return (object) => {
    const project = projectOf(object);
    if (namespace !== "" && object.metadata.namespace !== namespace) return false;
    if (name !== "" && object.metadata.name !== name) return false;
    if (projects.length > 0 && !projects.includes(project)) return false;
    return labels(object) && may(account, "applications", "get", objectOf(call, project, object));
  };
}

const byName = (a: KubeObject, b: KubeObject) => compareText(a.metadata.name, b.metadata.name);

export function listApplications(call: Call): void {
  const items = call.store.list("applications").filter(wanted(call)).sort(byName);
  send(call.response, 200, { metadata: { resourceVersion: String(call.store.revision()) }, items: items.map(shown) });
}

export async function getApplication(call: Call): Promise<void> {
  const [name = ""] = call.names;
  const app = applicationOf(call, name, "get");
  const refresh = call.query.get("refresh") ?? "";
  if (refresh === "") return send(call.response, 200, shown(app));
  if (refresh !== "normal" && refresh !== "hard") throw grpcError(3, `unknown refresh type ${refresh}`);
  send(call.response, 200, shown(await compared(call, app, refresh)));
}

/** Asks for a comparison by the annotation, and waits until the controller has taken it away. */
async function compared({ store, clock }: ApiParts, { metadata }: KubeObject, kind: string): Promise<KubeObject> {
  const { namespace = "", name } = metadata;
  const done = Promise.withResolvers<KubeObject>();
  const stops = [
    clock.after(PATIENCE_MS, () => done.reject(grpcError(4, "context deadline exceeded"))),
    store.subscribe("applications", ({ type, object }) => {
      if (object.metadata.name !== name || object.metadata.namespace !== namespace) return;
      if (type === "DELETED") done.reject(grpcError(5, `applications.argoproj.io "${name}" not found`));
      else if (object.metadata.annotations?.[REFRESH] === undefined) done.resolve(object);
    }),
  ];
  try {
    store.change("applications", namespace, name, (object) => {
      const annotations = { ...object.metadata.annotations, [REFRESH]: kind };
      return { ...object, metadata: { ...object.metadata, annotations } };
    });
    return await done.promise;
  } finally {
    for (const stop of stops) stop();
  }
}

export function streamApplications(call: Call): void {
  const asked = call.query.get("resourceVersion") ?? "";
  const from = asked === "" ? undefined : Number(asked) || 0;
  call.streams.open(call.response, { field: "application", plural: "applications", from, wants: wanted(call), show: shown });
}
