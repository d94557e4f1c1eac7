/**
 * Reads an Application as `kubectl get -o yaml` or Argo CD's API gives it: whatever is not of the type it should be is absent,
 * and named in `unreadable`. Called by the adapters for every object that a list, watch or stream brings.
 */
import { defined } from "../../base/defined.ts";
import type { AnyReason } from "../../base/reason.ts";
import { iso } from "../../base/time.ts";
import { GENERATE_PATHS } from "../generate-paths.ts";
import type { ApplicationView } from "../views.ts";
import { child, type Fields, fields, labels, list, own, time, word } from "./lenient.ts";
import { sharedOwner, sharedText } from "./shared.ts";
import { decodeSources, type IntendedSpec, intendedOf } from "./source.ts";
import { decodeStatus } from "./status.ts";
import { appliedBy } from "./tracking.ts";
import { unreadableOf } from "./unreadable.ts";

const REFRESH = "argocd.argoproj.io/refresh";
const SKIP = "argocd.argoproj.io/skip-reconcile";
const LONGEST_PATHS = 20_000;

/**
 * Decodes an Application, cut down to what decisions use; undefined where it has no name, which nothing could refer to. Never
 * throws. `readAt`: epoch milliseconds of the bot's clock when it was read. `withheld`: why `raw` is not all of it.
 */
export function decodeApplication(raw: unknown, readAt: number, withheld?: AnyReason): ApplicationView | undefined {
  const object = fields(raw);
  const metadata = child(object, "metadata");
  const annotations = child(metadata, "annotations");
  const name = word(metadata, "name");
  if (name === undefined) return undefined;
  const spec = decodeSpec(child(object, "spec"));
  const operation = own(object, "operation");
  return defined({
    uid: word(metadata, "uid") ?? "",
    namespace: word(metadata, "namespace") ?? "",
    name,
    resourceVersion: word(metadata, "resourceVersion") ?? "",
    labels: labels(metadata, "labels"),
    owner: decodeOwner(metadata),
    appliedBy: appliedBy(metadata, "Application"),
    // One that cannot be read as a time still means that the object goes away.
    deletionTimestamp: own(metadata, "deletionTimestamp") == null ? undefined : (time(metadata, "deletionTimestamp") ?? iso(readAt)),
    refreshRequested: word(annotations, REFRESH) !== undefined,
    skipReconcile: word(annotations, SKIP) === "true" ? (true as const) : undefined,
    generatePaths: generatePathsOf(annotations),
    readAt: sharedText(iso(readAt)),
    spec,
    operationRequested: typeof operation === "object" && operation !== null,
    status: decodeStatus(child(object, "status"), spec),
    unreadable: withheld ?? unreadableOf(object),
  });
}

/** One that is too long is cut: then it covers too little, and never too much. */
export function generatePathsOf(annotations: Fields): string | undefined {
  const paths = own(annotations, GENERATE_PATHS);
  return typeof paths === "string" && paths !== "" ? paths.slice(0, LONGEST_PATHS) : undefined;
}

function decodeOwner(metadata: Fields): ApplicationView["owner"] {
  for (const raw of list(metadata, "ownerReferences").slice(0, 100)) {
    const reference = fields(raw);
    const kind = word(reference, "kind");
    const name = word(reference, "name");
    if (kind === "ApplicationSet" && name !== undefined) return sharedOwner(kind, name, word(reference, "uid") ?? "");
  }
  return undefined;
}

function decodeSpec(spec: Fields): ApplicationView["spec"] {
  return { ...intendedOf(spec), multiSource: decodeSources(spec).multiSource, automated: isAutomated(spec) };
}

/** Whether Argo CD syncs an Application of this `spec` by itself. */
export function isAutomated(spec: Fields): boolean {
  const automated = own(child(spec, "syncPolicy"), "automated");
  return typeof automated === "object" && automated !== null && own(fields(automated), "enabled") !== false;
}

/** Decodes the part of an Application's spec that liveness compares: of a rendered or a hand-written Application. */
export function decodeIntended(raw: unknown): IntendedSpec {
  return intendedOf(child(fields(raw), "spec"));
}

/**
 * Makes an Application of which nothing is known but that it was there. Who it is and where it runs stay, what it reported does not,
 * so that it is neither live, nor lost, nor failing.
 */
export function withheldApplication(view: ApplicationView, unreadable: AnyReason): ApplicationView {
  return {
    ...view,
    operationRequested: false,
    status: { sync: { revisions: [] }, health: {}, conditions: [] },
    unreadable,
  };
}
