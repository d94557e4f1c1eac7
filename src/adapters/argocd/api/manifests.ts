/**
 * What an Application renders to at revisions of one's own, which Argo CD works out by its repo server; nothing is written. Since Argo CD 2.11
 * the answer does not say of which revision it is: where it does, another one is never believed; where it does not, whoever asks has to
 * prove it by what stands in it. Called by `content.ts` and `sync.ts`, and by `index.ts` for a control plane's `manifests`.
 */
import { createHash } from "node:crypto";
import { child, fields, list, word } from "../../../core/argocd/decode/lenient.ts";
import { isFullSha } from "../../../core/argocd/liveness/moment.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { defined } from "../../../core/base/defined.ts";
import { planeReason as reason } from "../../../core/reasons/control-plane.ts";
import type { ManifestsOutcome, RenderedObject } from "../port.ts";
import { createCutter, TooDeep } from "../wire/cut.ts";
import { statusOf, WireError } from "../wire/http.ts";
import { refusalOf } from "./ask.ts";
import type { ArgoClient, Query } from "./client.ts";
import { applicationPath, applicationQuery } from "./rollouts.ts";

/** A chart or a kustomization may take its time the first time; whoever waits longer asks again, and Argo CD has it by then. */
const TOTAL_MS = 20_000;
const MOST_OBJECTS = 20_000;
/** Of an account without the right, of an Argo CD that does not know the question, and of what stands before it. */
export const REFUSED: readonly number[] = [401, 403, 404, 405, 501];

/**
 * What the Application's sources render to at these revisions, and of which that is, if Argo CD says so; "" leaves one as it is. `anew`: not what
 * Argo CD has kept of them.
 */
export async function manifestsOf(
  client: ArgoClient,
  view: ApplicationView,
  revisions: readonly string[],
  anew = false,
): Promise<{ manifests: string[]; revision: string | undefined }> {
  const query = { ...applicationQuery(view), ...revisionQuery(view, revisions), noCache: anew ? "true" : undefined };
  const limits = { shape: { "*": false, manifests: true, revision: true }, totalMs: TOTAL_MS };
  const answer = fields(await client.get(`${applicationPath(view.name)}/manifests`, query, limits));
  return { manifests: list(answer, "manifests").filter((one) => typeof one === "string"), revision: word(answer, "revision") };
}

function revisionQuery({ spec }: ApplicationView, revisions: readonly string[]): Query {
  if (!spec.multiSource) return { revision: revisions[0] === "" ? undefined : revisions[0] };
  const at = revisions.flatMap((revision, index) => (revision === "" ? [] : [{ revision, position: String(index + 1) }]));
  return { revisions: at.map(({ revision }) => revision), sourcePositions: at.map(({ position }) => position) };
}

/**
 * Whether an answer says that it is of another commit than the one that was asked for; of several sources it means whichever it likes, and
 * which commit a branch or tag is only Argo CD knows.
 */
export function isOfAnother({ spec }: ApplicationView, [asked = ""]: readonly string[], answered: string | undefined): boolean {
  return !spec.multiSource && answered !== undefined && isFullSha(asked) && answered !== asked;
}

/** Its objects at these revisions. Never rejects. */
export async function renderedAt(client: ArgoClient, view: ApplicationView, revisions: readonly string[]): Promise<ManifestsOutcome> {
  try {
    // Where paths are left out of comparisons, Argo CD gives manifests of before the names of later revisions.
    const { manifests, revision } = await manifestsOf(client, view, revisions, view.generatePaths !== undefined);
    if (isOfAnother(view, revisions, revision)) {
      const said = { asked: revisions[0] ?? "", answered: revision ?? "" };
      return { kind: "failed", why: reason("ANSWER_OTHER_REVISION", said) };
    }
    if (manifests.length > MOST_OBJECTS)
      return { kind: "failed", why: reason("TOO_MANY_OBJECTS", { what: "manifests", most: MOST_OBJECTS }) };
    const objectOf = createDecoder(view);
    return { kind: "done", objects: manifests.map(objectOf) };
  } catch (error) {
    const kind = REFUSED.includes(statusOf(error)) ? "forbidden" : "failed";
    return { kind, why: refusalOf(error, view) };
  }
}

const HEAD = { "*": false, apiVersion: true, kind: true, metadata: { "*": false, name: true, namespace: true } };
const WHOLE = { ...HEAD, metadata: { ...HEAD.metadata, labels: true, annotations: true, finalizers: true }, spec: true };

/** Reads the texts of objects: those of Argo CD whole, of others who they are. Throws WireError. */
function createDecoder({ spec: { destination } }: ApplicationView): (text: string) => RenderedObject {
  const [head, whole] = [createCutter(HEAD), createCutter(WHOLE)];
  return (text) => {
    const bytes = Buffer.from(text);
    const raw = fields(cut(head, bytes));
    const [group = ""] = /^(.*)\/[^/]*$/.exec(word(raw, "apiVersion") ?? "")?.slice(1) ?? [];
    const kind = word(raw, "kind") ?? "";
    const isArgo = group === "argoproj.io" && (kind === "ApplicationSet" || kind === "Application");
    const metadata = child(raw, "metadata");
    return defined({
      kind: group === "" ? kind : `${group}/${kind}`,
      namespace: word(metadata, "namespace") ?? destination.namespace ?? "",
      name: word(metadata, "name") ?? "",
      digest: createHash("sha256").update(bytes).digest("hex"),
      bytes: bytes.length,
      argo: isArgo ? { kind, object: fields(cut(whole, bytes)) } : undefined,
    });
  };
}

function cut(cutter: (bytes: Uint8Array) => unknown, bytes: Uint8Array): unknown {
  try {
    return cutter(bytes);
  } catch (error) {
    const because = error instanceof TooDeep ? error.reason : reason("ANSWER_BROKEN", {});
    throw new WireError(0, reason("MANIFEST_UNREADABLE", { because }), { settled: true });
  }
}
