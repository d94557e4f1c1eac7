/**
 * Asks Argo CD what an Application's objects are: the live ones first, which is one call and mostly enough; and only where they do not
 * tell, what the revision renders to and what the one before the change did. Called by `index.ts` for a control plane's `content`.
 */
import { type ContentProof, isTelling, showsValues } from "../../../core/argocd/content.ts";
import { fields, list, own } from "../../../core/argocd/decode/lenient.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { defined } from "../../../core/base/defined.ts";
import type { ContentOutcome, ContentQuestion } from "../port.ts";
import { statusOf } from "../wire/http.ts";
import { refusalOf } from "./ask.ts";
import type { ArgoClient } from "./client.ts";
import { manifestsOf, REFUSED } from "./manifests.ts";
import { applicationPath, applicationQuery } from "./rollouts.ts";

const TOTAL_MS = 20_000;

export async function contentOf(client: ArgoClient, view: ApplicationView, question: ContentQuestion): Promise<ContentOutcome> {
  try {
    return { kind: "done", proof: await proofOf(client, view, question) };
  } catch (error) {
    const refused = REFUSED.includes(statusOf(error)) ? true : undefined;
    return defined({ kind: "failed", why: refusalOf(error, view), refused });
  }
}

async function proofOf(client: ArgoClient, view: ApplicationView, question: ContentQuestion): Promise<ContentProof> {
  const { seen, before, thorough } = question;
  const written = question.values.map(({ to }) => to).filter(isTelling);
  const shows = (objects: readonly string[]) => written.length > 0 && showsValues(objects, written);
  const { live, target } = await managed(client, view);
  if (shows(live)) return "shown";
  if (shows(target)) return "notLive";
  if (view.spec.sourceHydrator !== undefined || !(thorough || holdsOld(live, question))) return "unknown";
  const rendered = await manifests(client, view, seen);
  if (shows(rendered)) return "notLive";
  if (before === undefined) return "unknown";
  const old = await manifests(client, view, before);
  return old.sort().join("\n") === rendered.sort().join("\n") ? "same" : "differs";
}

/** What should have gone is still there. */
function holdsOld(live: readonly string[], { values }: ContentQuestion): boolean {
  const gone = values.flatMap(({ from, to }) => (from !== null && isTelling(from) && isTelling(to) ? [from] : []));
  return gone.length > 0 && showsValues(live, gone);
}

const MANAGED = { "*": false, items: { "*": { "*": false, liveState: true, targetState: true } } };

/** As the controller has compared them last. */
async function managed(client: ArgoClient, view: ApplicationView): Promise<{ live: string[]; target: string[] }> {
  const limits = { shape: MANAGED, totalMs: TOTAL_MS };
  const answer = await client.get(`${applicationPath(view.name)}/managed-resources`, applicationQuery(view), limits);
  const items = list(fields(answer), "items").map(fields);
  const states = (key: string) => items.map((item) => own(item, key)).filter((one) => typeof one === "string");
  return { live: states("liveState"), target: states("targetState") };
}

async function manifests(client: ArgoClient, view: ApplicationView, revisions: readonly string[]): Promise<string[]> {
  return (await manifestsOf(client, view, revisions)).manifests;
}
