import { at, COMMIT, LATER, merged as laid, MERGED, OLDER, REPO } from "../../src/adapters/argocd/testing/application.ts";
import type { ContentSeen, LivenessInput } from "../../src/core/argocd/liveness/types.ts";
import { said } from "../../src/core/reasons/run.ts";
import { type Read, read, type Trap } from "./trace.ts";

type Raw = Record<string, unknown>;

const HYDRATED = "e".repeat(40);
const sync = { repoURL: REPO, path: "eu-1", targetRevision: "env/eu" };
const destination = { server: "https://eu-1.example.com", namespace: "payments" };
const hydrator = (dry: Raw): Raw => ({
  drySource: { repoURL: REPO, targetRevision: "main", path: "overlays/v2", ...dry },
  syncSource: { targetBranch: "env/eu", path: "eu-1" },
});
const intended = (dry: Raw = {}) => ({ intended: { sources: [sync], destination, sourceHydrator: hydrator(dry) } });

/** An Application whose spec is `spec`, hydrated by `by`, and green at what that gave. */
function hydrated(clock: string, spec: Raw, by: Raw, drySHA = COMMIT): Read {
  const operation = { drySHA, hydratedSHA: HYDRATED, sourceHydrator: by };
  return read(clock, {
    spec: { source: undefined, sourceHydrator: spec },
    status: {
      sync: { revision: HYDRATED, comparedTo: { source: sync } },
      operationState: undefined,
      sourceHydrator: {
        currentOperation: { ...operation, phase: "Hydrated", finishedAt: at("10:00:08") },
        lastSuccessfulOperation: operation,
        lastComparedDryRevision: COMMIT,
      },
    },
  });
}

const twice = (of: (clock: string) => Read): Read[] => ["10:00:15", "10:01:00"].map(of);

const objects = (seen: ContentSeen, required = false): Partial<LivenessInput> => ({ content: { required, see: () => seen } });
const UNREAD: ContentSeen = { failed: said("HTTP 502"), since: new Date(at("10:00:15")).toISOString() };

/** All that Argo CD says of them is well, and the objects are asked for. */
export const CONTENT_TRAPS: Trap[] = [
  {
    issues: [],
    name: "the revision is shown, Synced and Healthy, and renders to what there was before the change",
    stops: "content/shown",
    ends: "pending",
    given: objects({ proof: "same" }),
    reads: twice((clock) => read(clock)),
  },
  {
    issues: [],
    name: "Synced and Healthy, for the comparison ignores the image: the revision renders to the new one, and the old one runs",
    stops: "content/shown",
    ends: "pending",
    given: objects({ proof: "notLive" }),
    reads: twice((clock) => read(clock)),
  },
  {
    issues: [],
    name: "objects are required to tell, and there is nothing in them that can",
    stops: "content/shown",
    ends: "pending",
    given: objects({ proof: "unknown" }, true),
    reads: twice((clock) => read(clock)),
  },
  {
    issues: [],
    name: "objects are required to tell, and the account may not read them",
    stops: "content/shown",
    ends: "pending",
    given: objects({ ...UNREAD, refused: true }, true),
    reads: twice((clock) => read(clock)),
  },
  {
    issues: [],
    name: "objects are not required to tell, and Argo CD fails to answer for less than the grace: it may answer yet",
    stops: "content/shown",
    ends: "pending",
    given: objects(UNREAD),
    reads: [read("10:00:15"), read("10:01:00")],
  },
  {
    issues: [],
    name: "objects are not required to tell, and cannot be read for the whole grace: it counts by its revision",
    ends: "live",
    given: objects(UNREAD),
    reads: [read("10:00:15"), read("10:01:20")],
  },
];

/** The ApplicationSet changes what no comparison of Argo CD's is about: `comparedTo` holds neither the dry source nor the project. */
export const SPEC_TRAPS: Trap[] = [
  {
    issues: [],
    name: "manifest-generate-paths leave out a base that the batch edits: the manifests of before get the new revision's name",
    stops: "revision/rendered",
    ends: "waiting",
    given: { edited: { files: ["base/kustomization.yaml"], repoURL: REPO } },
    reads: twice((clock) => read(clock, { metadata: { annotations: { "argocd.argoproj.io/manifest-generate-paths": "." } } })),
  },
  {
    issues: [],
    name: "the ApplicationSet has not written the new dry path yet, and the commit that changes it is hydrated by the old one",
    stops: "spec/intended",
    ends: "pending",
    given: intended(),
    reads: twice((clock) => hydrated(clock, hydrator({ path: "overlays/v1" }), hydrator({ path: "overlays/v1" }))),
  },
  {
    issues: [],
    name: "the same of a parameter in the dry source",
    stops: "spec/intended",
    ends: "pending",
    given: intended({ helm: { parameters: [{ name: "tag", value: "v2" }] } }),
    reads: twice((clock) => {
      const old = hydrator({ helm: { parameters: [{ name: "tag", value: "v1" }] } });
      return hydrated(clock, old, old);
    }),
  },
  {
    issues: [],
    name: "the new dry path is in the spec, and what is synced was hydrated by the old one: nothing else of the status tells",
    stops: "revision/older",
    ends: "pending",
    change: { kind: "generator", mergedAt: MERGED },
    given: intended(),
    reads: twice((clock) => hydrated(clock, hydrator({}), hydrator({ path: "overlays/v1" }))),
  },
  {
    issues: [],
    name: "the same where the commit itself is hydrated, before the ApplicationSet has followed",
    stops: "revision/older",
    ends: "pending",
    given: intended(),
    reads: twice((clock) => hydrated(clock, hydrator({}), hydrator({ path: "overlays/v1" }))),
  },
  {
    issues: [],
    name: "a tag of the dry source in another repository, hydrated by the spec that names it, is live once that is compared",
    ends: "live",
    change: { kind: "revision", revision: "v2", repoURL: "https://github.com/acme/app", commit: LATER, mergedAt: MERGED },
    given: {
      intended: {
        sources: [{ ...sync, repoURL: "https://github.com/acme/app" }],
        destination,
        sourceHydrator: hydrator({ repoURL: "https://github.com/acme/app", targetRevision: "v2" }),
      },
    },
    reads: [OLDER, LATER].map((drySHA, index) => {
      const spec = hydrator({ repoURL: "https://github.com/acme/app", targetRevision: "v2" });
      const one = hydrated(index === 0 ? "10:00:15" : "10:01:00", spec, spec, drySHA);
      const status = { sync: { comparedTo: { source: { repoURL: "https://github.com/acme/app" } } } };
      return { ...one, raw: one.raw === null ? null : laid(one.raw, { status }) };
    }),
  },
  {
    issues: [],
    name: "a value that turns something off is not in the spec yet, and Argo CD writes nothing for what is absent",
    stops: "spec/intended",
    ends: "pending",
    change: { kind: "generator", mergedAt: MERGED },
    given: {
      intended: {
        sources: [{ repoURL: REPO, path: "apps/payments", targetRevision: "main", rest: { helm: { valuesObject: { canary: false } } } }],
        destination,
      },
    },
    reads: twice((clock) => {
      const source = { helm: { valuesObject: {} } };
      return read(clock, { spec: { source }, status: { sync: { comparedTo: { source } }, operationState: { syncResult: { source } } } });
    }),
  },
  {
    issues: [],
    name: "what a comparison may leave out is not yet as the commit gives it: Synced was found by the rule before",
    stops: "spec/intended",
    ends: "pending",
    change: { kind: "generator", mergedAt: MERGED },
    given: { intended: { sources: [{ repoURL: REPO, path: "apps/payments", targetRevision: "main" }], destination } },
    reads: twice((clock) => {
      const ignoreDifferences = [{ kind: "Deployment", jsonPointers: ["/spec/template"] }];
      return read(clock, { spec: { ignoreDifferences }, status: { sync: { comparedTo: { ignoreDifferences } } } });
    }),
  },
];
