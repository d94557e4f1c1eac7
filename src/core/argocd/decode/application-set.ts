import { defined } from "../../base/defined.ts";
import type { AnyReason } from "../../base/reason.ts";
import type { ApplicationSetView } from "../views.ts";
import { child, fields, labels, list, message, time, word } from "./lenient.ts";
import { appliedBy } from "./tracking.ts";

const REFRESH = "argocd.argoproj.io/application-set-refresh";

const MAX_CONDITIONS = 100;

/** Decodes an ApplicationSet, its spec as it is; undefined where it has no name. `withheld`: why `raw` is not all of it. */
export function decodeApplicationSet(raw: unknown, withheld?: AnyReason): ApplicationSetView | undefined {
  const object = fields(raw);
  const metadata = child(object, "metadata");
  const name = word(metadata, "name");
  if (name === undefined) return undefined;
  const own = labels(metadata, "labels");
  return defined({
    namespace: word(metadata, "namespace") ?? "",
    name,
    uid: word(metadata, "uid") ?? "",
    resourceVersion: word(metadata, "resourceVersion") ?? "",
    labels: Object.keys(own).length === 0 ? undefined : own,
    spec: child(object, "spec"),
    conditions: decodeConditions(list(child(object, "status"), "conditions")),
    deletionTimestamp: time(metadata, "deletionTimestamp"),
    appliedBy: appliedBy(metadata, "ApplicationSet"),
    refreshRequested: word(child(metadata, "annotations"), REFRESH) === undefined ? undefined : (true as const),
    unreadable: withheld,
  });
}

function decodeConditions(raw: unknown[]): ApplicationSetView["conditions"] {
  const found: ApplicationSetView["conditions"] = [];
  for (const item of raw.slice(0, MAX_CONDITIONS)) {
    const condition = fields(item);
    const type = word(condition, "type");
    if (type === undefined) continue;
    const status = word(condition, "status") ?? "";
    found.push(defined({ type, status, reason: word(condition, "reason"), message: message(condition, "message") }));
  }
  return found;
}
