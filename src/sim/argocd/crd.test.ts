import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { KubeObject } from "../kubernetes/types.ts";
import { type TestWorld, testWorld } from "./test-world.ts";

const CRDS = fileURLToPath(new URL("../../../../shared/data/argocd/manifests/crds/", import.meta.url));
const present = existsSync(CRDS);
if (!present) console.error("skipped: objects against Argo CD's CRDs, which are not beside this checkout (../shared/data/argocd)");

interface Crd {
  spec: { versions: { schema: { openAPIV3Schema: object } }[] };
}

/** The API server prunes what a schema does not name: here it is an error, since a real object never has it. */
function strict(schema: unknown, root = true): unknown {
  if (Array.isArray(schema)) return schema.map((item) => strict(item, false));
  if (typeof schema !== "object" || schema === null) return schema;
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) copy[key] = strict(value, false);
  const open = root || copy["x-kubernetes-preserve-unknown-fields"] === true || copy["additionalProperties"] !== undefined;
  if (!open && copy["type"] === "object" && copy["properties"] !== undefined) copy["additionalProperties"] = false;
  return copy;
}

function validator(kind: string): ValidateFunction {
  const crd = parse(readFileSync(`${CRDS}${kind.toLowerCase()}-crd.yaml`, "utf8")) as Crd;
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  return ajv.compile(strict(crd.spec.versions[0]?.schema.openAPIV3Schema) as object);
}

const SET = (url: string) => `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: my-set }
spec:
  generators: [{ clusters: {} }]
  template:
    metadata: { name: 'app-{{name}}' }
    spec:
      project: default
      sources: [{ repoURL: '${url}', targetRevision: main, path: app }, { repoURL: 'https://charts.example.com', chart: c, targetRevision: 1.0.0 }]
      destination: { name: '{{name}}', namespace: app }
      syncPolicy: { automated: { selfHeal: true } }
`;

describe.skipIf(!present)("objects that the embedded Argo CD writes, against the real CRDs", () => {
  let world: TestWorld;
  beforeAll(async () => {
    const clusters = ["ok", "degraded", "failing", "away"].map((name) => ({ name }));
    world = await testWorld({ "app/deployment.yaml": "image: app:v1\n" }, { clusters });
    await world.repo.commit({ "sets/my-set.yaml": SET(world.repo.url) });
    world.argo.setFault("degraded", { kind: "degraded" });
    world.argo.setFault("failing", { kind: "sync-failed" });
    world.create("config", {
      source: { repoURL: world.repo.url, targetRevision: "main", path: "sets" },
      destination: { server: "https://kubernetes.default.svc", namespace: "argocd" },
      syncPolicy: { automated: { prune: true } },
    });
    world.create("single");
    await world.pass(30_000);
    world.argo.setFault("away", { kind: "unreachable" });
    world.argo.drift("app-ok");
    await world.pass(600_000);
    world.kubernetes.store.change("applicationsets", "argocd", "my-set", (set) => ({
      ...set,
      spec: {
        ...(set["spec"] as object),
        generators: [{ git: { repoURL: "https://example.com/none", revision: "main", files: [{ path: "*.yaml" }] } }],
      },
    }));
    await world.pass(10_000);
  });
  afterAll(() => world.close());

  it.each([
    { plural: "applications", kind: "Application", least: 60 },
    { plural: "applicationsets", kind: "ApplicationSet", least: 2 },
    { plural: "appprojects", kind: "AppProject", least: 1 },
  ])("every state of $plural that was written is valid", ({ plural, kind, least }) => {
    const validate = validator(kind);
    const objects: KubeObject[] = world.kubernetes.store.since(plural, 0).map(({ object }) => object);
    expect(objects.length).toBeGreaterThanOrEqual(least);
    for (const object of objects) {
      const valid = validate(object);
      expect(valid, `${JSON.stringify(validate.errors)} in ${JSON.stringify(object)}`).toBe(true);
    }
  });
});
