import { expect, test } from "vitest";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { iso } from "../../../core/base/time.ts";
import { planeReason as reason } from "../../../core/reasons/control-plane.ts";
import { NOW, rawApplication } from "../testing/application.ts";
import { WireError } from "../wire/http.ts";
import { byName, rereadApplication } from "./ask.ts";
import type { ArgoClient } from "./client.ts";

type Answer = ApplicationView["clusterAnswer"];

const DEPLOYMENT = { group: "apps", version: "v1", kind: "Deployment", namespace: "web", name: "web" };
const SERVICE = { version: "v1", kind: "Service", namespace: "web", name: "web" };
const raw = rawApplication({ status: { resources: [{ version: "v1", kind: "Secret", name: "s" }, DEPLOYMENT, SERVICE] } });
const says = (message: string, status = 500) => new WireError(status, reason("PROGRAM_SAYS", { message }));

const SILENT = new WireError(0, reason("HOST_SILENT", { origin: "https://argocd", seconds: 10 }));
const REFUSED = says('error getting resource: Get "https://eu-1/apis/apps/v1": dial tcp 10.0.0.1:443: connect: connection refused');
const KIND_GONE = says("error getting resource: the server could not find the requested resource");

/** What is told of the cluster, and which kinds were asked for, where these cannot be had. */
async function asked(failing: Record<string, Error>, { before, now = NOW }: { before?: Answer; now?: number } = {}) {
  const kinds: string[] = [];
  const client: Partial<ArgoClient> = {
    async get(path, query = {}) {
      if (!path.endsWith("/resource")) return raw;
      const kind = String(query["kind"]);
      kinds.push(kind);
      if (failing[kind] !== undefined) throw failing[kind];
      return {};
    },
  };
  const view = decodeApplication(raw, now) as ApplicationView;
  let answer: Answer;
  const known = before === undefined ? view : { ...view, clusterAnswer: before };
  await rereadApplication(client as ArgoClient, known, now, (taken) => {
    answer = taken?.clusterAnswer;
  });
  return { answer, kinds };
}

test.each([
  ["a connection refused", REFUSED],
  ["an answer that does not come", SILENT],
  ["a name that is not found", says("error getting resource: dial tcp: lookup eu-1: no such host", 503)],
])("%s is a cluster out of reach, since its first time; another object is asked for the next time", async (_name, error) => {
  const { answer, kinds } = await asked({ Deployment: error });
  expect(kinds).toEqual(["Deployment"]);
  expect(answer).toMatchObject({ failed: expect.any(String), at: iso(NOW), since: iso(NOW) });
  const again = await asked({ Service: error }, { before: answer, now: NOW + 30_000 });
  expect(again.kinds).toEqual(["Service"]);
  expect(again.answer).toMatchObject({ at: iso(NOW + 30_000), since: iso(NOW) });
  expect((await asked({}, { before: answer, now: NOW + 30_000 })).answer).toEqual({ at: iso(NOW + 30_000) });
  // Nobody has asked for long: what was missing then says nothing of the time between.
  const late = await asked({ Service: error }, { before: answer, now: NOW + 3_600_000 });
  expect(late.answer).toMatchObject({ since: iso(NOW + 3_600_000) });
});

test("an object whose kind is gone says nothing of the cluster: one of another kind does, and is asked for first from then on", async () => {
  const found = await asked({ Deployment: KIND_GONE });
  expect(found).toEqual({ answer: { at: iso(NOW) }, kinds: ["Deployment", "Service"] });
  const none = await asked({ Deployment: KIND_GONE, Service: KIND_GONE });
  expect(none.answer).toMatchObject({ unclear: expect.stringContaining("could not find") });
  expect(none.answer).not.toHaveProperty("failed");
  expect((await asked({}, { before: none.answer })).kinds).toEqual(["Service"]);
});

test.each([
  ["Argo CD's own memory", says("error getting app resources: error getting cached app resource tree: dial tcp redis:6379: i/o timeout")],
  [
    "Argo CD itself, which is gone",
    new WireError(0, reason("HOST_UNANSWERING", { origin: "https://argocd", because: reason("HOST_BROKE_OFF", { origin: "" }) })),
  ],
  ["what stands before Argo CD", says("Bad Gateway", 502)],
  ["a right that is wanted", says("permission denied", 403)],
])("trouble of %s is not held against the cluster", async (_name, error) => {
  const { answer } = await asked({ Deployment: error, Service: error });
  expect(answer?.failed).toBeUndefined();
});

test("a refresh forgets no answer that is missing: the cluster is not asked anew", async () => {
  const client: Partial<ArgoClient> = { get: async () => raw };
  const known = {
    ...(decodeApplication(raw, NOW) as ApplicationView),
    clusterAnswer: { at: iso(NOW), failed: "dial tcp", since: iso(NOW) },
  };
  const read = (application: ApplicationView) => byName(client as ArgoClient, application, { refresh: true, totalMs: 1000, now: NOW });
  expect((await read(known))?.clusterAnswer).toEqual(known.clusterAnswer);
  expect((await read({ ...known, uid: "another" }))?.clusterAnswer).toBeUndefined();
});
