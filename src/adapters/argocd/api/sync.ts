/**
 * Asks Argo CD to sync an Application whose automated sync is off: to the revisions of a batch, and to nothing else. Whoever may sync may
 * deploy whatever waits there, so that is looked at first: the Application is read by its name, must be as it was judged, at rest, and
 * at what it was before the batch, or at what renders to the same. Called by `index.ts` for a control plane's `sync`.
 */
import { isDeepStrictEqual } from "node:util";
import { child, fields } from "../../../core/argocd/decode/lenient.ts";
import { decodeSources } from "../../../core/argocd/decode/source.ts";
import { equalSources } from "../../../core/argocd/same.ts";
import type { SyncWanted } from "../../../core/argocd/sync-wanted.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { type ControlPlaneReasons, planeReason as reason } from "../../../core/reasons/control-plane.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import type { SyncOutcome } from "../port.ts";
import { reasonOf, statusOf } from "../wire/http.ts";
import { APPLICATION } from "../wire/shapes.ts";
import { rawByName } from "./ask.ts";
import type { ArgoClient } from "./client.ts";
import { isOfAnother, manifestsOf } from "./manifests.ts";
import { applicationPath, applicationQuery } from "./rollouts.ts";

const TOTAL_MS = 20_000;

export async function syncApplication(client: ArgoClient, known: ApplicationView, wanted: SyncWanted, now: number): Promise<SyncOutcome> {
  try {
    const read = await rawByName(client, known, { query: applicationQuery(known), shape: APPLICATION, totalMs: TOTAL_MS, now });
    const unsafe = read === undefined ? "Gone" : (whyNot(read.view, wanted) ?? (await bringsMore(client, read, wanted)));
    if (read === undefined || unsafe !== undefined) return { kind: "refused", why: reason("SYNC_UNSAFE", { kind: unsafe ?? "Gone" }) };
    await client.post(`${applicationPath(known.name)}/sync`, bodyOf(read.view, wanted));
    return { kind: "asked" };
  } catch (error) {
    return { kind: "refused", why: refusalOfSync(error, known) };
  }
}

type Unsafe = ControlPlaneReasons["SYNC_UNSAFE"]["kind"];

/** What of the Application as it is now stands against it. */
function whyNot(view: ApplicationView, { uid, sources, revisions }: SyncWanted): Unsafe | undefined {
  if (view.uid !== uid || view.deletionTimestamp !== undefined) return "Gone";
  if (view.unreadable !== undefined || !equalSources(view.spec.sources, sources)) return "Moved";
  if (view.spec.sourceHydrator !== undefined) return "Hydrated";
  if (view.spec.automated) return "Automated";
  const state = view.status.operation;
  if (view.operationRequested || state?.phase === "Running" || state?.phase === "Terminating") return "Busy";
  if (state?.phase !== "Succeeded" || state.local === true || state.partial === true || state.appliedRevisions.length !== revisions.length)
    return "NoSync";
  return state.ofSpec === true && isDeepStrictEqual(state.appliedRevisions, revisions) ? "Done" : undefined;
}

/** Whether something waits there beside the batch's change: what is deployed is not what was there right before it. */
async function bringsMore(
  client: ArgoClient,
  { raw, view }: { raw: unknown; view: ApplicationView },
  { before, revisions }: SyncWanted,
): Promise<Unsafe | undefined> {
  const result = child(child(child(fields(raw), "status"), "operationState"), "syncResult");
  if (!equalSources(decodeSources(result).sources, before.sources)) return "More";
  // Of a source whose revision is the change it does not matter which it was.
  const at = (others: readonly string[]) => revisions.map((own, index) => (before.revisions[index] === null ? own : (others[index] ?? "")));
  const deployed = at(view.status.operation?.appliedRevisions ?? []);
  const expected = at(before.revisions.map((revision) => revision ?? ""));
  if (isDeepStrictEqual(deployed, expected)) return undefined;
  const [there, then] = [await manifestsOf(client, view, deployed), await manifestsOf(client, view, expected)];
  if (isOfAnother(view, deployed, there.revision) || isOfAnother(view, expected, then.revision)) return "Plane";
  return isDeepStrictEqual(there.manifests.toSorted(), then.manifests.toSorted()) ? undefined : "Rendering";
}

/** Nothing is pruned, and everything else is as the Application's own policy says. */
function bodyOf({ name, namespace, spec }: ApplicationView, { revisions }: SyncWanted): Record<string, unknown> {
  const which = spec.multiSource
    ? { revisions, sourcePositions: revisions.map((_, index) => String(index + 1)) }
    : { revision: revisions[0] ?? "" };
  const infos = [{ name: "Reason", value: "Stagecoach: a batch of a rollout with sync: Request" }];
  const project = spec.project === "" ? {} : { project: spec.project };
  return { name, appNamespace: namespace, ...project, ...which, prune: false, dryRun: false, infos };
}

function refusalOfSync(error: unknown, { spec }: ApplicationView): AnyReason {
  const because = reasonOf(error);
  // Argo CD says both with one status: who may not, and when nobody may.
  if (/sync window/i.test(sentenceOf(because))) return reason("SYNC_UNSAFE", { kind: "Window" });
  if (/operation is already in progress/i.test(sentenceOf(because))) return reason("SYNC_UNSAFE", { kind: "Busy" });
  if (statusOf(error) !== 403 && statusOf(error) !== 401) return because;
  return reason("GRANT_WANTED", { because, grant: `p, ACCOUNT, applications, sync, ${spec.project || "default"}/*, allow` });
}
