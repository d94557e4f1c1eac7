/** Why a batch must not be merged, or not yet. */
import type { EngineReasons } from "../../reasons/engine.ts";
import { entriesOf } from "./entry.ts";
import { addStop, few } from "./phrases.ts";
import { sayRender } from "./render.ts";

const UNVERIFIED = "Without that check it goes on with sourceRef.unverified: true";
/** Out of what only Argo CD could say. */
const TWO_WAYS =
  "Read it with `kind: api` and a token that may `get` the parent, or pin files that generators or the Applications themselves read";

/** How a set comes from its manifest to the cluster. */
const BY = { kustomize: " through kustomize", helm: " through Helm", unknown: "" } as const;

export const GUARD = entriesOf<EngineReasons>()({
  GUARD_CONFLICTS: { subject: "pull", says: "merging it would conflict in {files}" },
  GUARD_UNDECLARED: {
    subject: "file",
    says: ({ set, plane, files }) => {
      const what =
        files.length === 0 ? `no file of the repo declares ApplicationSet ${set}` : `${few(files)} declare ApplicationSet ${set}`;
      const which =
        plane === undefined ? "" : files.length === 0 ? ` that ${plane} follows` : `, and which of them ${plane} follows is not clear`;
      return `${what}${which}, so Stagecoach cannot tell what the change would delete. ${UNVERIFIED}`;
    },
  },
  GUARD_UNRENDERED: {
    subject: "file",
    says: ({ problem, because }, names) => {
      const why = problem === undefined ? "Argo CD's own error is not known" : `${problem.where}: ${sayRender(problem).message}`;
      return `Stagecoach cannot render the ApplicationSet, so it does not know what it would change: ${why}; ${addStop(names.because(because))} ${UNVERIFIED}`;
    },
  },
  PLANE_NOT_ASKED: { subject: "controlPlane", says: "Stagecoach cannot ask control plane {plane} now" },
  GENERATE_NOT_ALLOWED: {
    subject: "controlPlane",
    says: "control plane {plane} may not generate it either (`allowGenerate: true`, and for its account `applicationsets, create, PROJECT/*`)",
  },
  GENERATE_FAILED: {
    subject: "controlPlane",
    says: {
      forbidden: {
        true: "Stagecoach may not ask Argo CD ({plane}): {because}",
        false: "Argo CD ({plane}) could not generate it: {because}",
      },
    },
  },
  COMMIT_UNREADABLE: { subject: "repository", says: "Stagecoach cannot read the commit {commit}" },
  GUARD_DELETES: {
    subject: "application",
    says: ({ applications }) => `it would delete ${few(applications)} with ${applications.length === 1 ? "its" : "their"} workloads`,
  },
  GUARD_CREATES: { subject: "application", says: ({ applications }) => `it would create ${few(applications)}, not of this batch` },
  GUARD_CHANGES: {
    subject: "application",
    says: "it would change [{field} of ]{application}, which[ follows {follows} and] is not part of this batch",
  },
  GUARD_TWICE: { subject: "application", says: "ApplicationSets {sets} both make {application}: only one of them can have it" },
  GUARD_MOVES: { subject: "application", says: "it would change {field} of {application}" },
  GUARD_NO_SET: { subject: "controlPlane", says: "ApplicationSet {set} is not in {plane}: nothing there would follow the change" },
  GUARD_SET_LEAVES: { subject: "controlPlane", says: "ApplicationSet {set} is being deleted in {plane}" },
  GUARD_SET_DIFFERS: {
    subject: "controlPlane",
    says: ({ plane, declaredIn, field, parent }) =>
      `the ApplicationSet in ${plane} is not Git's yet (${parent === undefined ? `${declaredIn} on the base` : `as ${parent} renders the base`}): ${field} differs; its parent Application has still to sync, or somebody edited it in the cluster`,
  },
  GUARD_PIN_NOT_LIVE: {
    subject: "controlPlane",
    says: ({ plane, declaredIn, by, field }) =>
      `the ApplicationSet in ${plane} comes from ${declaredIn}${BY[by]}, and has another value at ${field} than Git: its parent Application has still to sync, or ${by === "kustomize" ? "a patch sets it, and then the pin belongs there" : "it is set elsewhere"}`,
  },
  GUARD_SET_MADE: {
    subject: "file",
    says: ({ plane, by, changed }) =>
      `it would change ${changed}, from which the ApplicationSet in ${plane} is made${BY[by]}, and Stagecoach cannot ask Argo CD what comes of that. ${TWO_WAYS}`,
  },
  PARENT_UNRENDERED: { subject: "controlPlane", says: "Argo CD ({plane}) does not say what {parent} renders at {commit}: {because}" },
  PARENT_EMPTY: {
    subject: "application",
    says: {
      with: {
        base: "Argo CD ({plane}) renders nothing at all from {parent}, which applies what is there",
        batch: "Argo CD ({plane}) would render nothing at all from {parent} with the batch's change",
      },
    },
  },
  PARENT_CHANGES: {
    subject: "application",
    says: ({ plane, parent, object, does }) =>
      `it ${{ changes: "would change", adds: "would add", removes: "would take away" }[does]} ${object} among what ${parent} in ${plane} renders, which is not part of this batch`,
  },
  PARENT_MOVED: {
    subject: "application",
    says: "the base has changed {object} among what {parent} in {plane} renders since this batch was built, at the same places as the batch",
  },
  PARENT_SHOWS_NOTHING: {
    subject: "application",
    says: "Argo CD ({plane}) renders {application} from {parent} without [{to}]: it answered for another commit, or the pin does not reach the Application",
  },
  CHILD_DIFFERS: {
    subject: "application",
    says: "{application} in {plane} is not yet what {parent} renders from the base: {parent} has still to sync, or somebody edited it in the cluster",
  },
  GUARD_LOSES: { subject: "application", says: "{application} runs in {plane} and would be gone after the merge" },
  GUARD_READ_OUTSIDE: {
    subject: "file",
    says: "it would change {changed}, which {application} in {plane} reads too and which is not part of this batch",
  },
  GUARD_PARENT_READS: {
    subject: "file",
    says: ({ changed, application, plane }) =>
      `it would change ${changed}, from which ${application} in ${plane} makes other Applications, and Stagecoach cannot ask Argo CD what comes of that. ${TWO_WAYS}`,
  },
});
