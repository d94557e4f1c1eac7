import { defined } from "../../base/defined.ts";
import type { ApplicationSetView } from "../views.ts";
import { child, fields, list, message, time, word } from "./lenient.ts";

const MAX_CONDITIONS = 100;

/** Decodes an ApplicationSet, its spec as it is; undefined where it has no name. `withheld`: why `raw` is not all of it. */
export function decodeApplicationSet(raw: unknown, withheld?: string): ApplicationSetView | undefined {
  const object = fields(raw);
  const metadata = child(object, "metadata");
  const name = word(metadata, "name");
  if (name === undefined) return undefined;
  const view = defined({
    namespace: word(metadata, "namespace") ?? "",
    name,
    uid: word(metadata, "uid") ?? "",
    resourceVersion: word(metadata, "resourceVersion") ?? "",
    spec: child(object, "spec"),
    conditions: decodeConditions(list(child(object, "status"), "conditions")),
    deletionTimestamp: time(metadata, "deletionTimestamp"),
  });
  return withheld === undefined ? view : withheldSet(view, withheld);
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

/** Makes of an ApplicationSet one that reports an error, so that nothing is merged by what its spec once was. */
export function withheldSet(view: ApplicationSetView, why: string): ApplicationSetView {
  const message = `it cannot be read: ${why}`;
  return { ...view, conditions: [{ type: "ErrorOccurred", status: "True", message }], unreadable: [why] };
}
