import { defined } from "../../../core/base/defined.ts";
import { type Application, type Operation, sourcesOf } from "../types.ts";
import { grpcError, jsonBody, send } from "./answers.ts";
import { applicationOf, type Call, shown } from "./parts.ts";
import { canSync, windowsOf } from "./windows.ts";

/** Asks for a sync as Argo CD takes it: the refusals are its own, in its order and words, and no more is looked at than it looks at. */
export async function postSync(call: Call): Promise<void> {
  const body = await jsonBody(call.request);
  const given = (key: string) => (typeof body[key] === "string" ? body[key] : "");
  const named = { appNamespace: given("appNamespace"), project: given("project") };
  const app = applicationOf(call, call.names[0] ?? "", "sync", named);
  const { namespace = "", name } = app.metadata;
  if (!canSync(windowsOf(call.store, call.namespace, app), call.clock.now(), true))
    throw grpcError(7, "cannot sync: blocked by sync window");
  if (app.metadata["deletionTimestamp"] !== undefined) throw grpcError(9, "application is deleting");
  const operation = operationOf(call, app, body);
  if (app.operation !== undefined) throw grpcError(9, "another operation is already in progress");
  if (body["dryRun"] === true) return send(call.response, 200, shown(app));
  send(call.response, 200, shown(call.store.change("applications", namespace, name, (object) => ({ ...object, operation })) ?? app));
}

function operationOf(call: Call, app: Application, body: Record<string, unknown>): Operation {
  const policy = (app.spec.syncPolicy ?? {}) as { automated?: { enabled?: boolean }; syncOptions?: string[]; retry?: Operation["retry"] };
  const automated = policy.automated !== undefined && policy.automated.enabled !== false;
  const [revisions, positions] = [words(body["revisions"]), words(body["sourcePositions"]).map(Number)];
  if (revisions.length !== positions.length) throw grpcError(9, "source positions length is not equal to revisions length");
  const sources = sourcesOf(app.spec);
  const target = (index: number) => sources[index]?.targetRevision ?? "HEAD";
  const isMulti = app.spec.sources !== undefined;
  const asked = isMulti ? sources.map((_, index) => revisions[positions.indexOf(index + 1)] ?? "") : [String(body["revision"] ?? "")];
  for (const [index, revision] of asked.entries()) {
    if (automated && revision !== "" && revision !== target(index))
      throw grpcError(9, `Cannot sync to ${revision}: auto-sync currently set to ${target(index)}`);
  }
  const sync = isMulti ? { revisions: asked } : { revision: asked[0] };
  const info = Array.isArray(body["infos"]) ? (body["infos"] as Operation["info"]) : undefined;
  return defined({
    sync: defined({ ...sync, prune: body["prune"] === true, syncOptions: policy.syncOptions }),
    initiatedBy: { username: call.account.name },
    retry: policy.retry,
    info,
  }) as Operation;
}

function words(raw: unknown): string[] {
  return Array.isArray(raw) ? raw.filter((one): one is string => typeof one === "string") : [];
}
