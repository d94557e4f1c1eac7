import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as kubernetes from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { CELL_LIMITS } from "../src/adapters/cell/cell.ts";
import { compileGoTemplate } from "../src/core/gotemplate/index.ts";
import { parseServerConfig } from "../src/surfaces/server/config/file.ts";

const ROOT = new URL("../deploy/", import.meta.url).pathname;
/** What is no variant of the server has its own test: test/monitoring/. */
const BESIDE = ["monitoring/**", "chart/**"];
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
    // What strangers reach is another door: who floods it gets no pod ended.
    for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"])
      expect(at(container, probe, "httpGet", "port"), probe).toBe("inside");
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

const CHART = join(ROOT, "chart");
const HELM = spawnSync("helm", ["version"]).error === undefined;
if (!HELM) console.log("skipped: what Helm makes of the chart, since there is no helm");
/** Set by `helm template`: the release is called stagecoach, in the namespace stagecoach. */
const RELEASE = { Name: "stagecoach", Namespace: "stagecoach", Service: "Helm", IsInstall: true, IsUpgrade: false, Revision: 1 };

interface Values {
  config: { controlPlanes: Json[] };
  [key: string]: unknown;
}

const DEFAULTS = parse(read("chart/values.yaml")) as Values;

/** What Helm makes of a template; the chart keeps to what ApplicationSets' templates have, too, so that the project's own engine renders it. */
function rendered(template: string, change: Json = {}): string {
  const { name, version, appVersion } = parse(read("chart/Chart.yaml")) as Json;
  const Chart = { Name: name, Version: version, AppVersion: appVersion };
  const data = { Values: { ...DEFAULTS, ...change }, Release: RELEASE, Chart };
  return compileGoTemplate(read(`chart/templates/${template}`))(data as never, "zero" as never);
}

function chartObjects(change: Json = {}): Manifest[] {
  return globSync("templates/*.yaml", { cwd: CHART })
    .sort()
    .flatMap((file) => parseAllDocuments(rendered(basename(file), change)).map((document) => ({ file, object: document.toJS() as Json })))
    .map(({ file, object }) => ({ file, kind: String(object["kind"]), name: String(at(object, "metadata", "name")), object }));
}

/** Without what only one of the two has: who made it, and what of the values is in it. */
function bare({ object }: Manifest): Json {
  const copy = structuredClone(object);
  const own = /^stagecoach\.dev\/(?:config|service)$/;
  const strip = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (own.test(key)) delete (value as Json)[key];
      else strip(inner);
    }
  };
  strip(copy);
  return copy;
}

describe("the chart", () => {
  const ALL = {
    podLabels: { team: "platform" },
    podAnnotations: { a: "b" },
    priorityClassName: "high",
    nodeSelector: { disk: "fast" },
    tolerations: [{ key: "x", operator: "Exists" }],
    affinity: { nodeAffinity: {} },
    extraEnv: [{ name: "HTTPS_PROXY", value: "http://proxy:3128" }],
    extraVolumes: [{ name: "token", secret: { secretName: "argocd-token" } }],
    extraVolumeMounts: [{ name: "token", mountPath: "/etc/argocd" }],
    image: { ...(DEFAULTS["image"] as Json), digest: `sha256:${"a".repeat(64)}`, pullSecrets: ["registry"] },
    mirrors: { size: "1Gi", existingClaim: "mirrors" },
    service: { annotations: { c: "d" } },
    serviceAccount: { annotations: { e: "f" } },
    ingress: { enabled: true, className: "nginx", annotations: { g: "h" }, host: "stagecoach.example.com", tlsSecret: "tls" },
    serviceMonitor: { enabled: true, interval: "1m", labels: { release: "prometheus" } },
  };
  const REPLICAS = { replicas: 3, postgres: { secret: "stagecoach-database", migrationSecret: "stagecoach-owner", port: 6432 } };

  test.each([
    ["as it is", {}],
    ["with everything set", ALL],
    ["with three replicas", REPLICAS],
  ])("%s: every object fits the Kubernetes API", (_name, change) => {
    const found = chartObjects(change).filter(({ kind }) => kind !== "ServiceMonitor");
    expect(found.length).toBeGreaterThan(6);
    expect(found.flatMap(({ file, kind, object }) => misfits(`V1${kind}`, object, `${file} ${kind}`))).toEqual([]);
  });

  test("as it is it makes what the kustomization makes", () => {
    const mine = new Map(chartObjects().map((one) => [`${one.kind} ${one.name}`, bare(one)]));
    for (const kind of ["Deployment", "Service", "NetworkPolicy", "ServiceAccount"]) {
      for (const theirs of objects("base/kustomization.yaml").filter((one) => one.kind === kind)) {
        const ours = mine.get(`${kind} ${theirs.name}`);
        const { containers } = (at(theirs.object, "spec", "template", "spec") ?? {}) as { containers?: Json[] };
        for (const container of containers ?? []) Object.assign(container, { image: "stagecoach:0.1.0", imagePullPolicy: "IfNotPresent" });
        expect(at(ours, "spec") ?? ours, `${kind} ${theirs.name}`).toMatchObject(at(theirs.object, "spec") ?? { kind });
        // Kubernetes lets nobody change it: with another, Helm could not take over what the kustomization made.
        expect(at(ours, "spec", "selector"), `${kind} ${theirs.name}`).toEqual(at(theirs.object, "spec", "selector"));
      }
    }
    const rules = (all: Manifest[]) => all.flatMap((one) => (one.kind === "Role" ? (one.object["rules"] as Json[]) : []));
    expect(rules(chartObjects())).toEqual(rules(objects("base/kustomization.yaml")));
  });

  test.skipIf(!HELM).each([
    ["as it is", {}],
    ["with everything set", ALL],
    ["with three replicas", REPLICAS],
  ])("%s: Helm makes the same of it", (_name, change) => {
    const values = JSON.stringify({ ...DEFAULTS, ...change });
    const helm = spawnSync("helm", ["template", "stagecoach", CHART, "-n", "stagecoach", "-f", "-"], { input: values, encoding: "utf8" });
    expect(helm.stderr).toBe("");
    const named = (all: { kind: string; name: string; object: Json }[]) =>
      new Map(all.map(({ kind, name, object }) => [`${kind} ${at(object, "metadata", "namespace")} ${name}`, object]));
    const theirs = parseAllDocuments(helm.stdout).map((document) => document.toJS() as Json);
    const made = theirs.map((object) => ({ kind: String(object["kind"]), name: String(at(object, "metadata", "name")), object }));
    expect(named(made)).toEqual(named(chartObjects(change)));
  });

  test("what docs/operations.md sets for three replicas over PostgreSQL is what the chart knows", () => {
    const page = readFileSync(new URL("../docs/operations.md", import.meta.url), "utf8");
    const values = parse(/```yaml\n(# values\.yaml\n[^`]*)```/.exec(page)?.[1] ?? "") as { config: Json; image: Json };
    const flags = [...page.matchAll(/--set (\w+)(?:\.(\w+))?=(\S+)/g)].filter(([, , , value]) => !value?.includes("`"));
    const set: Json = {};
    for (const [, key = "", below, value = ""] of flags)
      set[key] = below === undefined ? Number(value) : { ...(DEFAULTS[key] as Json), ...(set[key] as Json | undefined), [below]: value };
    expect(Object.keys(set)).toEqual(["replicas", "postgres"]);
    const change = { ...set, ...values, image: { ...(DEFAULTS["image"] as Json), ...values.image } };
    for (const [key, own] of Object.entries(change)) {
      expect(Object.keys(DEFAULTS)).toContain(key);
      if (typeof own === "object" && key !== "config")
        expect(Object.keys(DEFAULTS[key] as Json), key).toEqual(expect.arrayContaining(Object.keys(own as Json)));
    }
    const made = chartObjects(change).find((one) => one.kind === "Deployment")?.object;
    expect(at(made, "spec", "replicas")).toBe(3);
    const written = at(chartObjects(change).find((one) => one.kind === "ConfigMap")?.object, "data", "stagecoach.yaml") as string;
    expect(parseServerConfig(written, "stagecoach.yaml").problems).toEqual([]);
  });

  const kind = (change: Json, wanted: string) => chartObjects(change).find((one) => one.kind === wanted)?.object;

  test("one replica needs nothing, and never stands beside a second; several want PostgreSQL, and are kept apart", () => {
    expect(at(kind({}, "Deployment"), "spec")).toMatchObject({ replicas: 1, strategy: { type: "Recreate" } });
    expect(kind({}, "PodDisruptionBudget")).toBeUndefined();
    expect(() => chartObjects({ replicas: 2 })).toThrow("GO_CALL");
    expect(() => chartObjects({ config: { ...DEFAULTS.config, queue: { kind: "postgres" } } })).toThrow("GO_CALL");
    const claim = { mirrors: { size: "1Gi", existingClaim: "mirrors" } };
    expect(chartObjects(claim).length).toBeGreaterThan(6);
    expect(() => chartObjects({ ...claim, ...REPLICAS })).toThrow("GO_CALL");

    const spec = at(kind(REPLICAS, "Deployment"), "spec");
    expect(spec).toMatchObject({ replicas: 3, strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
    const labels = at(spec, "selector", "matchLabels");
    const spread = at(spec, "template", "spec", "topologySpreadConstraints") as Json[];
    expect(spread.map(({ topologyKey }) => topologyKey)).toEqual(["topology.kubernetes.io/zone", "kubernetes.io/hostname"]);
    for (const one of spread) expect(one).toMatchObject({ whenUnsatisfiable: "ScheduleAnyway", labelSelector: { matchLabels: labels } });
    const own = [{ maxSkew: 2, topologyKey: "rack", whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: labels } }];
    const given = kind({ ...REPLICAS, topologySpreadConstraints: own }, "Deployment");
    expect(at(given, "spec", "template", "spec", "topologySpreadConstraints")).toEqual(own);
    expect(at(kind(REPLICAS, "PodDisruptionBudget"), "spec")).toEqual({ maxUnavailable: 1, selector: { matchLabels: labels } });
    expect(at(kind(REPLICAS, "NetworkPolicy"), "spec", "egress", 1, "ports")).toContainEqual({ port: 6432 });
  });

  test("the database's address is a file of its own; who may change the schema is known to nothing but the step that does", () => {
    const written = at(kind(REPLICAS, "ConfigMap"), "data", "stagecoach.yaml") as string;
    expect(parseServerConfig(written, "stagecoach.yaml").problems).toEqual([]);
    expect(parse(written)).toMatchObject({ queue: { kind: "postgres", urlFile: "/etc/stagecoach-database/url" } });
    const pod = at(kind(REPLICAS, "Deployment"), "spec", "template", "spec");
    const mounted = (container: unknown) => (at(container, "volumeMounts") as Json[]).map(({ name }) => name);
    const [migrate] = at(pod, "initContainers") as Json[];
    expect(migrate).toMatchObject({ args: ["migrate", "--config", "/etc/stagecoach/stagecoach.yaml"] });
    expect(migrate?.["env"]).toEqual([{ name: "DATABASE_URL_FILE", value: "/etc/stagecoach-migration/url" }]);
    expect(mounted(migrate)).toEqual(["config", "migration", "tmp"]);
    expect(mounted(at(pod, "containers", 0))).toEqual(["config", "app", "database", "mirrors", "tmp"]);
    expect(at(migrate, "securityContext")).toEqual(at(pod, "containers", 0, "securityContext"));
    const alone = { replicas: 2, postgres: { ...REPLICAS.postgres, migrationSecret: "" } };
    expect(at(kind(alone, "Deployment"), "spec", "template", "spec", "initContainers")).toBeUndefined();
  });

  test("its configuration is valid, and rights follow from it: clusters' Secrets, other namespaces, everywhere, none for what is asked by its API", () => {
    const written = at(chartObjects().find(({ kind }) => kind === "ConfigMap")?.object, "data", "stagecoach.yaml") as string;
    expect(parseServerConfig(written, "stagecoach.yaml").problems).toEqual([]);
    const rights = (...controlPlanes: Json[]) =>
      chartObjects({ config: { controlPlanes } }).flatMap(({ kind, object }) =>
        kind.endsWith("Role")
          ? (object["rules"] as { resources: string[]; verbs: string[] }[]).map(
              ({ resources, verbs }) =>
                `${kind} ${String(at(object, "metadata", "namespace") ?? "everywhere")}: ${resources.join()} ${verbs.join()}`,
            )
          : [],
      );
    const looks = "applications,applicationsets get,list,watch";
    expect(rights({ name: "a", namespaces: ["argocd", "teams"], clusterSecrets: true, allowRefresh: true })).toEqual([
      `Role argocd: ${looks},patch`,
      `Role teams: ${looks},patch`,
      "Role argocd: appprojects get",
      "Role argocd: secrets list,watch",
    ]);
    expect(rights({ name: "a", argocdNamespace: "gitops" })).toEqual([`ClusterRole everywhere: ${looks}`, "Role gitops: appprojects get"]);
    expect(rights({ name: "a", kind: "api", url: "https://argocd.example.com" }, { name: "b", kubeconfig: "/etc/kube" })).toEqual([]);
  });

  test("it has the program's version, a value for every key of its schema, and no key that the schema does not have", () => {
    const chart = parse(read("chart/Chart.yaml")) as Json;
    const { version } = JSON.parse(readFileSync(join(ROOT, "../package.json"), "utf8")) as Json;
    expect([chart["version"], chart["appVersion"]]).toEqual([version, version]);
    const schema = JSON.parse(read("chart/values.schema.json")) as { properties: Record<string, { properties?: Json }> };
    const { global: _helms, ...known } = schema.properties;
    expect(Object.keys(known).sort()).toEqual(Object.keys(DEFAULTS).sort());
    for (const [key, { properties }] of Object.entries(known))
      if (properties !== undefined && key !== "config")
        expect(Object.keys(properties).sort(), key).toEqual(Object.keys(DEFAULTS[key] as Json).sort());
  });

  test("what is to be done next is said once it is installed", () => {
    expect(rendered("NOTES.txt")).toContain("service/stagecoach-inside 3001");
    expect(rendered("NOTES.txt")).toContain("GitHub cannot reach it yet");
    expect(rendered("NOTES.txt", ALL)).not.toContain("GitHub cannot reach it yet");
  });
});
