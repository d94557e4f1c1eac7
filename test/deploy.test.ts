import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as kubernetes from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { CELL_LIMITS } from "../src/adapters/cell/cell.ts";
import { parseServerConfig } from "../src/surfaces/server/config/file.ts";

const ROOT = new URL("../deploy/", import.meta.url).pathname;
/** What is no variant of the server has its own test: test/monitoring/. */
const BESIDE = ["monitoring/**"];
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

type Json = Record<string, unknown>;
const at = (value: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>((here, key) => (here as Json | undefined)?.[key as string], value);

interface Manifest {
  file: string;
  kind: string;
  name: string;
  object: Json;
}

function manifestsOf(file: string): Manifest[] {
  return parseAllDocuments(read(file)).map((document) => {
    const object = document.toJS() as Json;
    return { file, kind: String(object["kind"]), name: String(at(object, "metadata", "name")), object };
  });
}

/** The files a kustomization takes, bases first. */
function resources(path: string): string[] {
  const listed = (at(manifestsOf(path)[0], "object", "resources") ?? []) as string[];
  return listed.flatMap((one) => {
    const target = join(dirname(path), one);
    return one.endsWith(".yaml") ? [target] : resources(join(target, "kustomization.yaml"));
  });
}

const variants = globSync("*/kustomization.yaml", { cwd: ROOT, exclude: BESIDE }).sort();
const objects = (variant: string) => resources(variant).flatMap(manifestsOf);
const one = (variant: string, kind: string, name = "stagecoach") =>
  objects(variant).find((m) => m.kind === kind && m.name === name)?.object;

interface Model {
  getAttributeTypeMap(): { name: string; baseName: string; type: string }[];
}

/** What does not fit the Kubernetes API's own model: an unknown field, or a value of another type. */
function misfits(type: string, value: unknown, path: string): string[] {
  const list = /^Array<(.*)>$/.exec(type)?.[1];
  if (list !== undefined) {
    return Array.isArray(value) ? value.flatMap((item, i) => misfits(list, item, `${path}[${i}]`)) : [`${path} is no list`];
  }
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(type)?.[1];
  if (map !== undefined) return Object.entries(value as Json).flatMap(([key, item]) => misfits(map, item, `${path}.${key}`));
  if (type === "IntOrString") return ["number", "string"].includes(typeof value) ? [] : [`${path} is neither a number nor text`];
  if (["string", "number", "boolean"].includes(type)) return typeof value === type ? [] : [`${path} is no ${type}`];
  const model = (kubernetes as unknown as Record<string, Model | undefined>)[type];
  if (model === undefined) return [`${path}: nothing is known of ${type}`];
  const known = new Map(model.getAttributeTypeMap().map((attribute) => [attribute.baseName, attribute.type]));
  return Object.entries(value as Json).flatMap(([key, item]) => {
    const inner = known.get(key);
    return inner === undefined ? [`${path}.${key} is unknown`] : misfits(inner, item, `${path}.${key}`);
  });
}

describe("deploy/", () => {
  test("every manifest belongs to a variant", () => {
    const used = new Set(variants.flatMap(resources));
    const there = globSync("*/*.yaml", { cwd: ROOT, exclude: BESIDE }).filter(
      (file) => !["kustomization.yaml", "stagecoach.yaml"].includes(basename(file)),
    );
    expect(there.filter((file) => !used.has(file))).toEqual([]);
    expect(variants).toEqual(["base/kustomization.yaml", "cluster-secrets/kustomization.yaml"]);
  });

  test.each(variants)("%s: every object fits the Kubernetes API", (variant) => {
    const found = objects(variant);
    expect(found.length).toBeGreaterThan(6);
    expect(found.flatMap(({ file, kind, object }) => misfits(`V1${kind}`, object, `${file} ${kind}`))).toEqual([]);
  });

  test("the check of the models sees unknown fields and wrong types", () => {
    const wrong = { spec: { replicas: "1", template: { spec: { containers: [{ name: "x", volumeMount: [] }] } } } };
    expect(misfits("V1Deployment", wrong, "d")).toEqual([
      "d.spec.replicas is no number",
      "d.spec.template.spec.containers[0].volumeMount is unknown",
    ]);
  });

  test("the pod has no rights on its node, and writes to its volumes only", () => {
    const pod = at(one("base/kustomization.yaml", "Deployment"), "spec", "template", "spec");
    expect(at(pod, "securityContext")).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } });
    expect(at(pod, "containers", 0, "securityContext")).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    const mounts = at(pod, "containers", 0, "volumeMounts") as { name: string; mountPath: string; readOnly?: boolean }[];
    expect(mounts.filter((mount) => mount.readOnly !== true).map((mount) => mount.mountPath)).toEqual(["/var/lib/stagecoach", "/tmp"]);
    expect(mounts.map((mount) => mount.name)).toEqual((at(pod, "volumes") as { name: string }[]).map((volume) => volume.name));
    // The kernel would end the server with a cell that grows.
    const most = Number(/^(\d+)Mi$/.exec(String(at(pod, "containers", 0, "resources", "limits", "memory")))?.[1]);
    expect(most).toBeGreaterThanOrEqual(300 + 2 * CELL_LIMITS.residentMb);
  });

  test("it may look at Argo CD and do nothing else; Secrets only in the variant for them", () => {
    const rules = (variant: string) =>
      objects(variant)
        .filter((m) => m.kind === "Role" || m.kind === "ClusterRole")
        .flatMap((m) => m.object["rules"] as { resources: string[]; verbs: string[] }[]);
    for (const variant of variants) {
      expect([...new Set(rules(variant).flatMap((rule) => rule.verbs))].filter((verb) => !["get", "list", "watch"].includes(verb))).toEqual(
        [],
      );
    }
    expect(rules("base/kustomization.yaml").flatMap((rule) => rule.resources)).toEqual(["applications", "applicationsets", "appprojects"]);
    expect(rules("cluster-secrets/kustomization.yaml").flatMap((rule) => rule.resources)).toContain("secrets");
  });

  test("probes, ports, services and the policy speak of the same doors", () => {
    const container = at(one("base/kustomization.yaml", "Deployment"), "spec", "template", "spec", "containers", 0);
    const ports = new Map(
      (at(container, "ports") as { name: string; containerPort: number }[]).map((port) => [port.name, port.containerPort]),
    );
    expect([...ports]).toEqual([
      ["webhooks", 3000],
      ["inside", 3001],
    ]);
    const probes = ["startupProbe", "livenessProbe", "readinessProbe"].map((probe) => at(container, probe, "httpGet", "path"));
    expect(probes).toEqual(["/healthz", "/healthz", "/readyz"]);
    const labels = at(one("base/kustomization.yaml", "Deployment"), "spec", "template", "metadata", "labels");
    for (const service of ["stagecoach", "stagecoach-inside"]) {
      const spec = at(one("base/kustomization.yaml", "Service", service), "spec");
      expect(at(spec, "selector")).toEqual(labels);
      expect(ports.has(String(at(spec, "ports", 0, "targetPort")))).toBe(true);
    }
    expect(at(one("base/kustomization.yaml", "NetworkPolicy"), "spec", "podSelector", "matchLabels")).toEqual(labels);
  });

  test.each(variants)("%s: the configuration it carries is valid, and stays in Argo CD's namespace as its Role does", (variant) => {
    const file = join(dirname(variant), "stagecoach.yaml");
    const { config, problems } = parseServerConfig(read(file), file);
    expect(problems).toEqual([]);
    expect(config?.controlPlanes[0]?.namespaces).toEqual(["argocd"]);
    expect(config?.controlPlanes[0]?.clusterSecrets).toBe(variant.startsWith("cluster-secrets"));
  });
});
