import type { ApplicationSetView, ApplicationView } from "./views.ts";

/**
 * An Application of which is known that it was there, and nothing of how it is now: who it is and where it runs stay, what it
 * reported does not, so that it is neither live, nor lost, nor failing.
 */
export function withheldApplication(view: ApplicationView, why: string): ApplicationView {
  return {
    ...view,
    operationRequested: false,
    status: { sync: { revisions: [] }, health: {}, conditions: [] },
    unreadable: [why],
  };
}

/** An ApplicationSet of the same kind: it reports an error, so that nothing is merged by what its spec once was. */
export function withheldSet(view: ApplicationSetView, why: string): ApplicationSetView {
  const message = `it cannot be read: ${why}`;
  return { ...view, conditions: [{ type: "ErrorOccurred", status: "True", message }], unreadable: [why] };
}

/** For whoever reads ApplicationSets one by one. */
export function asRead(view: ApplicationSetView | undefined, withheld: string | undefined): ApplicationSetView | undefined {
  return view === undefined || withheld === undefined ? view : withheldSet(view, withheld);
}
