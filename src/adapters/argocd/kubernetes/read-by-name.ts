import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import type { RereadOutcome } from "../port.ts";
import { reasonOf, saysNotFound, WireError } from "../wire/http.ts";
import { createObjectCutter } from "../wire/object.ts";
import { APPLICATION_SHAPES } from "../wire/shapes.ts";
import type { KubeClient } from "./client.ts";

/** Silence after which it is given up, of the wall. */
const IDLE_MS = 10_000;
const MOST_BYTES = 16 << 20;

export function applicationPath(namespace: string, name: string): string {
  return `/apis/argoproj.io/v1alpha1/namespaces/${encodeURIComponent(namespace)}/applications/${encodeURIComponent(name)}`;
}

/** Reads one anew and hands over what there is. Without a resourceVersion the API server answers with the latest, never from a cache. */
export async function readByName(
  client: KubeClient,
  { namespace, name, now }: { namespace: string; name: string; now: number },
  take: (view: ApplicationView | undefined) => void,
): Promise<RereadOutcome> {
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    const chunk = (bytes: Buffer) => {
      size += bytes.length;
      if (size > MOST_BYTES) throw new WireError(0, `the answer has more than ${MOST_BYTES} bytes`);
      chunks.push(bytes);
    };
    const { done } = await client.read(applicationPath(namespace, name), {}, { chunk }, IDLE_MS);
    await done;
    const { raw, withheld } = createObjectCutter(APPLICATION_SHAPES.shape, APPLICATION_SHAPES.lesser)(Buffer.concat(chunks));
    const view = decodeApplication(raw, now, withheld);
    if (view === undefined) return { kind: "failed", why: "the answer is no Application" };
    take(view);
    return { kind: "read" };
  } catch (error) {
    if (!saysNotFound(error, name)) return { kind: "failed", why: reasonOf(error) };
    take(undefined);
    return { kind: "gone" };
  }
}
