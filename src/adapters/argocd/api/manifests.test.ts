import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { planeReason as reason } from "../../../core/reasons/control-plane.ts";
import { NOW, rawApplication } from "../testing/application.ts";
import { WireError } from "../wire/http.ts";
import { type ArgoClient, argoClient, type Query } from "./client.ts";
import { renderedAt } from "./manifests.ts";

const view = decodeApplication(rawApplication(), NOW) as ApplicationView;
const COMMIT = "c".repeat(40);
const SET = {
  apiVersion: "argoproj.io/v1alpha1",
  kind: "ApplicationSet",
  metadata: { name: "shop", namespace: "argocd", uid: "x" },
  spec: {},
};
const MAP = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "other" }, data: { secret: "x" } };

async function asked(answer: unknown, of = view, revisions = [COMMIT]) {
  const queries: Query[] = [];
  const client: Partial<ArgoClient> = {
    async get(_, query = {}) {
      queries.push(query);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return { outcome: await renderedAt(client as ArgoClient, of, revisions), queries };
}

test("sets and Applications are read whole, of other objects who they are and whether they change", async () => {
  const manifests = [JSON.stringify(SET), JSON.stringify(MAP)];
  const { outcome, queries } = await asked({ manifests });
  const digest = expect.stringMatching(/^[0-9a-f]{64}$/) as unknown;
  expect(outcome).toEqual({
    kind: "done",
    objects: [
      {
        ...{ kind: "argoproj.io/ApplicationSet", namespace: "argocd", name: "shop", digest, bytes: manifests[0]?.length },
        argo: { kind: "ApplicationSet", object: { ...SET, metadata: { name: "shop", namespace: "argocd" } } },
      },
      { kind: "ConfigMap", namespace: view.spec.destination.namespace, name: "other", digest, bytes: manifests[1]?.length },
    ],
  });
  expect(queries).toEqual([expect.objectContaining({ revision: COMMIT, noCache: undefined })]);
});

test("nothing at all is an answer; manifests with paths left out of comparisons are rendered anew", async () => {
  expect((await asked({})).outcome).toEqual({ kind: "done", objects: [] });
  const { queries } = await asked({}, { ...view, generatePaths: "." });
  expect(queries[0]).toMatchObject({ noCache: "true" });
});

test("those of another commit are never believed; of several sources the answer names one of them", async () => {
  const other = { manifests: [], revision: "d".repeat(40) };
  const { outcome } = await asked(other);
  expect(outcome).toEqual({ kind: "failed", why: reason("ANSWER_OTHER_REVISION", { asked: COMMIT, answered: other.revision }) });
  expect((await asked({ ...other, revision: COMMIT })).outcome.kind).toBe("done");
  const several = { ...view, spec: { ...view.spec, multiSource: true } };
  const { outcome: any, queries } = await asked(other, several, ["", COMMIT]);
  expect([any.kind, queries[0]]).toEqual(["done", expect.objectContaining({ revisions: [COMMIT], sourcePositions: ["2"] })]);
});

test.each([
  ["no JSON", "{", "ANSWER_BROKEN"],
  [
    "nested without end",
    `${'{"kind":"ApplicationSet","apiVersion":"argoproj.io/v1","spec":'}${"[".repeat(5000)}${"]".repeat(5000)}}`,
    undefined,
  ],
])("a manifest that is %s is no answer", async (_, text, code) => {
  const { outcome } = await asked({ manifests: [text] });
  const because = code === undefined ? expect.anything() : { code };
  expect(outcome).toMatchObject({ kind: "failed", why: { code: "MANIFEST_UNREADABLE", because } });
});

test("too many objects are no answer", async () => {
  const { outcome } = await asked({ manifests: Array.from({ length: 20_001 }, () => "{}") });
  expect(outcome).toMatchObject({ kind: "failed", why: { code: "TOO_MANY_OBJECTS" } });
});

test("an account that may not is told the grant; what fails may be otherwise later", async () => {
  const said = reason("PROGRAM_SAYS", { message: "permission denied" });
  expect((await asked(new WireError(403, said))).outcome).toMatchObject({
    kind: "forbidden",
    why: { code: "GRANT_WANTED", grant: "p, ACCOUNT, applications, get, default/*, allow" },
  });
  expect((await asked(new WireError(404, said))).outcome.kind).toBe("forbidden");
  expect((await asked(new WireError(500, said))).outcome).toEqual({ kind: "failed", why: said });
});

test("manifests of 50 MB are cut off", async () => {
  let sent = 0;
  const server = createServer((_, response) => {
    response.write('{"manifests":["');
    const piece = Buffer.alloc(1 << 20, "x");
    const next = () => {
      while (sent < 50 && !response.destroyed) {
        sent++;
        if (!response.write(piece)) return void response.once("drain", next);
      }
      response.end('"]}');
    };
    next();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const client = argoClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: "t" });
  try {
    expect(await renderedAt(client, view, [COMMIT])).toMatchObject({ kind: "failed", why: { code: "ANSWER_TOO_LARGE", most: 16 << 20 } });
    expect(sent).toBeLessThan(50);
  } finally {
    client.close();
    server.closeAllConnections();
    server.close();
  }
});
