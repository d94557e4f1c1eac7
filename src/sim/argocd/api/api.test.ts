import { existsSync, readFileSync } from "node:fs";
import { request } from "node:https";
import { fileURLToPath } from "node:url";
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openApiPlane } from "../../../adapters/argocd/api/index.ts";
import { rawReplicaSet, rawRollout } from "../../../adapters/argocd/testing/rollout.ts";
import { defined } from "../../../core/base/defined.ts";
import type { KubeObject } from "../../kubernetes/types.ts";
import { type TestWorld, testWorld } from "../testing/world.ts";
import { SWAGGER_SLICE } from "./testing/swagger-slice.ts";

const SWAGGER = fileURLToPath(new URL("../../../../../shared/data/argocd/assets/swagger.json", import.meta.url));
const present = existsSync(SWAGGER);
if (!present)
  console.error("Argo CD's swagger is not beside this checkout (../shared/data/argocd): answers are checked against a slice of it");

interface Swagger {
  paths: Record<string, Record<string, { responses: Record<string, { schema: object }> }>>;
  definitions: Record<string, object>;
}

/** A field that the published API does not have is an error: nobody could rely on it. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) copy[key] = strict(value);
  const closed = copy["type"] === "object" && copy["properties"] !== undefined && copy["additionalProperties"] === undefined;
  if (closed) copy["additionalProperties"] = false;
  return copy;
}

const swagger = (present ? JSON.parse(readFileSync(SWAGGER, "utf8")) : SWAGGER_SLICE) as Swagger;
// A node's own name is in it, not beside it, as the description has it.
const NODE = swagger.definitions["v1alpha1ResourceNode"] as { properties: object; allOf?: unknown } | undefined;
const REF = swagger.definitions["v1alpha1ResourceRef"] as { properties: object } | undefined;
if (NODE !== undefined) {
  NODE.properties = { ...NODE.properties, ...REF?.properties };
  delete NODE.allOf;
}
const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
addFormats.default(ajv);

function validatorOf(path: string, method: string): ValidateFunction {
  const schema = swagger.paths[path]?.[method]?.responses["200"]?.schema;
  if (schema === undefined) throw new Error(`the API has no ${method} ${path}`);
  return ajv.compile({ ...(strict(schema) as object), definitions: strict(swagger.definitions) });
}

const SYNC = { name: "app-dev", prune: false, dryRun: true, infos: [{ name: "Reason", value: "a test" }] };

const SET = (url: string): Record<string, unknown> => ({
  apiVersion: "argoproj.io/v1alpha1",
  kind: "ApplicationSet",
  metadata: { name: "my-set" },
  spec: {
    generators: [{ git: { repoURL: url, revision: "main", files: [{ path: "envs/*.yaml" }] } }],
    template: {
      metadata: { name: "app-{{env}}" },
      spec: {
        project: "default",
        source: { repoURL: url, targetRevision: "main", path: "app" },
        destination: { name: "eu-1", namespace: "app" },
        syncPolicy: { automated: {} },
      },
    },
  },
});

describe("the embedded Argo CD's API, over TLS", () => {
  let world: TestWorld;
  beforeAll(async () => {
    const files = { "app/deployment.yaml": "image: app:v1\n", "envs/dev.yaml": "env: dev\n", "envs/prod.yaml": "env: prod\n" };
    world = await testWorld(files, { clusters: [{ name: "eu-1" }], tls: true });
    const { store } = world.kubernetes;
    const window = { kind: "allow", schedule: "0 0 1 1 *", duration: "1h", applications: ["payments"] };
    store.change("appprojects", "argocd", "default", (project) => ({
      ...project,
      spec: { ...(project["spec"] as object), syncWindows: [window] },
    }));
    world.create("payments");
    const set = SET(world.repo.url) as unknown as KubeObject;
    store.create({ ...set, metadata: { ...set.metadata, namespace: "argocd" } });
    store.create(rawRollout("payments") as unknown as KubeObject);
    store.create(rawReplicaSet() as unknown as KubeObject);
    await world.pass(60_000);
  });
  afterAll(() => world.close());

  /** Status and text of an answer; a stream is cut after its first line. */
  function ask(
    path: string,
    { method = "GET", token = world.argo.api.token, body }: { method?: string; token?: string; body?: unknown } = {},
  ) {
    return new Promise<{ status: number; text: string }>((resolve, reject) => {
      const headers = defined({ authorization: `Bearer ${token}`, "content-type": body === undefined ? undefined : "application/json" });
      const { ca = "" } = world.argo;
      const outgoing = request(`${world.argo.url}${path}`, { ca, method, headers }, (response) => {
        let text = "";
        const done = () => resolve({ status: response.statusCode ?? 0, text });
        response.on("data", (chunk: Buffer) => {
          text += chunk;
          if (!path.includes("/stream/") || !text.includes("\n")) return;
          text = text.split("\n")[0] ?? "";
          done();
          outgoing.destroy();
        });
        response.on("end", done);
      });
      outgoing.on("error", reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  const resource = "namespace=payments&resourceName=api&group=argoproj.io&version=v1alpha1&kind=Rollout";
  const action = {
    namespace: "payments",
    resourceName: "api",
    group: "argoproj.io",
    version: "v1alpha1",
    kind: "Rollout",
    action: "resume",
  };

  it.each([
    ["/api/v1/applications", "/api/v1/applications"],
    ["/api/v1/applications/{name}", "/api/v1/applications/payments"],
    ["/api/v1/applications/{name}/syncwindows", "/api/v1/applications/payments/syncwindows"],
    ["/api/v1/applications/{applicationName}/resource-tree", "/api/v1/applications/payments/resource-tree"],
    ["/api/v1/applications/{applicationName}/managed-resources", "/api/v1/applications/payments/managed-resources"],
    ["/api/v1/applications/{name}/manifests", "/api/v1/applications/payments/manifests?revision=main"],
    ["/api/v1/applications/{name}/resource", `/api/v1/applications/payments/resource?${resource}`],
    ["/api/v1/applications/{name}/resource/actions", `/api/v1/applications/payments/resource/actions?${resource}`],
    ["/api/v1/applicationsets", "/api/v1/applicationsets"],
    ["/api/v1/clusters", "/api/v1/clusters"],
    ["/api/v1/stream/applications", "/api/v1/stream/applications"],
    ["/api/v1/stream/applicationsets", "/api/v1/stream/applicationsets"],
    ["/api/v1/applications/{name}/resource/actions/v2", "/api/v1/applications/payments/resource/actions/v2", action],
    ["/api/v1/applications/{name}/sync", "/api/v1/applications/app-dev/sync", SYNC],
  ])("%s answers in the published shape", async (documented, path, body?: unknown) => {
    const { status, text } = await ask(path, body === undefined ? {} : { method: "POST", body });
    expect(status, text).toBe(200);
    const answer: unknown = JSON.parse(text);
    expect(Object.keys(answer as object).length, text).toBeGreaterThan(body === undefined ? 0 : -1);
    const validate = validatorOf(documented, body === undefined ? "get" : "post");
    const valid = validate(answer);
    expect(valid, JSON.stringify(validate.errors?.slice(0, 5))).toBe(true);
  });

  it("takes a sync as the adapter asks for it, which is as the published API has it", async () => {
    const request = swagger.definitions["applicationApplicationSyncRequest"];
    const validate = ajv.compile({ ...(strict(request ?? {}) as object), definitions: strict(swagger.definitions) });
    const several = { ...SYNC, revisions: ["c".repeat(40)], sourcePositions: ["1"] };
    for (const body of [SYNC, several]) expect(validate(body), JSON.stringify(validate.errors)).toBe(true);
    const refused = await ask("/api/v1/applications/app-dev/sync", { method: "POST", body: { ...SYNC, revision: "c".repeat(40) } });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("Cannot sync to")]);
  });

  it("generates what the set would, with files from Git, and writes nothing", async () => {
    const before = world.kubernetes.store.revision();
    const { status, text } = await ask("/api/v1/applicationsets/generate", {
      method: "POST",
      body: { applicationSet: SET(world.repo.url) },
    });
    expect(status, text).toBe(200);
    const { applications } = JSON.parse(text) as { applications: { metadata: { name: string } }[] };
    expect(applications.map(({ metadata }) => metadata.name).sort()).toEqual(["app-dev", "app-prod"]);
    const validate = validatorOf("/api/v1/applicationsets/generate", "post");
    expect(validate(JSON.parse(text)), JSON.stringify(validate.errors?.slice(0, 5))).toBe(true);
    expect(world.kubernetes.store.revision()).toBe(before);
  });

  it("the adapter gets the same, and why not", async () => {
    const { url, api, ca = "" } = world.argo;
    const log = { info: () => undefined, warn: () => undefined };
    const plane = openApiPlane({ name: "hub", url, ca, token: api.token, allowGenerate: true, clock: world.clock, log });
    const generated = await plane.generate?.(SET(world.repo.url));
    expect(generated).toMatchObject({
      kind: "done",
      applications: [{ metadata: { name: "app-dev" } }, { metadata: { name: "app-prod" } }],
    });
    expect(await plane.generate?.(SET("https://example.com/none.git"))).toMatchObject({
      kind: "failed",
      why: { code: "PROGRAM_SAYS", message: expect.stringContaining("none.git") },
    });
    await plane.close();
    const token = api.addAccount("reader", ["p, reader, applicationsets, get, *, allow"]);
    const reader = openApiPlane({ name: "hub", url, ca, token, allowGenerate: true, clock: world.clock, log });
    const refused = await reader.generate?.(SET(world.repo.url));
    expect(refused).toMatchObject({
      kind: "forbidden",
      why: { code: "GRANT_WANTED", grant: "p, ACCOUNT, applicationsets, create, PROJECT/*, allow" },
    });
    await reader.close();
  });

  it("objects are those that were applied, and those of the revision that is asked for", async () => {
    const { url, api, ca = "" } = world.argo;
    const log = { info: () => undefined, warn: () => undefined };
    const plane = openApiPlane({ name: "hub", url, ca, token: api.token, clock: world.clock, log });
    await plane.ready();
    const seen = world.app("payments").status?.sync?.revision ?? "";
    const ask = (name: string, to: string, from: string) =>
      plane.content?.("argocd", name, { values: [{ from, to }], seen: [seen], before: [seen], thorough: true });
    expect(await ask("app-dev", "app:v1", "app:v0")).toEqual({ kind: "done", proof: "shown" });
    expect(await ask("app-dev", "app:v2", "app:v1")).toEqual({ kind: "done", proof: "same" });
    // Nobody has synced it.
    expect(await ask("payments", "app:v1", "app:v0")).toEqual({ kind: "done", proof: "notLive" });
    await plane.close();
  });

  it.each([
    ["a token that nobody has", "/api/v1/applications", "nope", 401, /invalid session/],
    ["a missing one without its project", "/api/v1/applications/none", undefined, 403, /permission denied/],
    ["a missing one with its project", "/api/v1/applications/none?project=default", undefined, 404, /not found/],
    ["one of another project", "/api/v1/applications/payments?project=other", undefined, 404, /not found/],
    ["an unknown route", "/api/v1/nothing", undefined, 404, /Not Found/],
    ["an unknown refresh", "/api/v1/applications/payments?refresh=maybe", undefined, 400, /refresh/],
  ])("refuses %s", async (_name, path, token, wanted, words) => {
    const { status, text } = await ask(path, token === undefined ? {} : { token });
    expect([status, text]).toEqual([wanted, expect.stringMatching(words)]);
    expect(JSON.parse(text)).toMatchObject({ code: expect.any(Number), message: expect.any(String), error: expect.any(String) });
  });

  it("leaves out of a list what one may not get", async () => {
    const token = world.argo.api.addAccount("narrow", ["p, narrow, applications, get, default/app-dev, allow"]);
    const { text } = await ask("/api/v1/applications", { token });
    expect((JSON.parse(text) as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name)).toEqual([
      "app-dev",
    ]);
    expect((await ask("/api/v1/applications/payments?project=default", { token })).status).toBe(403);
    expect((await ask("/api/v1/account/can-i/applications/get/default/app-dev", { token })).text).toBe('{"value":"yes"}');
  });

  it("a refresh answers when the controller has compared", async () => {
    const before = world.app("payments").status?.reconciledAt;
    const asked = new Promise<void>((resolve) => {
      const stop = world.kubernetes.store.subscribe("applications", ({ object }) => {
        if (object.metadata.annotations?.["argocd.argoproj.io/refresh"] !== "normal") return;
        stop();
        resolve();
      });
    });
    const answered = ask("/api/v1/applications/payments?refresh=normal");
    await asked;
    await world.until("the comparison", () => world.app("payments").status?.reconciledAt !== before);
    const app = JSON.parse((await answered).text) as { status: { reconciledAt: string }; metadata: { annotations?: object } };
    expect(app.status.reconciledAt > (before ?? "")).toBe(true);
    expect(app.metadata.annotations ?? {}).not.toHaveProperty("argocd.argoproj.io/refresh");
  });
});
