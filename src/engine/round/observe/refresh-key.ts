/** What another comparison of an Application is asked for, and from when on one can tell. Called for targets and for their children. */
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { epoch } from "../../../core/base/time.ts";
import type { Assessment } from "../../../core/run/state/world.ts";

/** Times of Argo CD are whole seconds. */
const SECOND_MS = 1000;

/** What a comparison that Argo CD has not made yet would be of: the end of an operation, another spec, a second word on what is bad. */
export function refreshReason(application: ApplicationView | undefined, { firstSeenAt = "", held }: Assessment): string {
  const { sources = [], sourceHydrator } = application?.spec ?? {};
  const { operation, reconciledAt } = application?.status ?? {};
  // Made in the second of the end, which is not known to be after it: one of the next second is another.
  const tied = operation?.finishedAt !== undefined && operation.finishedAt === reconciledAt;
  return `${operation?.finishedAt ?? ""} ${tied ? "tied" : ""} ${firstSeenAt} ${held?.badSince ?? ""} ${JSON.stringify([sources, sourceHydrator])}`;
}

/** When the second is over in which its operation ended: asked before, the comparison is most likely of that very second. */
export function endIsPast(application: ApplicationView | undefined, now: number): number {
  const { finishedAt } = application?.status.operation ?? {};
  const past = finishedAt === undefined ? 0 : epoch(finishedAt) + SECOND_MS;
  // Of a clock that runs ahead of ours it is not waited for.
  return past <= now + SECOND_MS ? past : 0;
}
