import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build } from "../chaos/processes.ts";
import type { BenchRow } from "./row.ts";

const SERVICES = 2_500;
const REPO = "https://github.com/acme/config.git";
const SET = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: services, namespace: argocd }
spec:
  goTemplate: true
  generators: [ { git: { repoURL: "${REPO}", revision: HEAD, directories: [ { path: "services/*/overlays/*" } ] } } ]
  template:
    metadata: { name: "{{index .path.segments 1}}-{{.path.basename}}", labels: { service: "{{index .path.segments 1}}", env: "{{.path.basename}}" } }
    spec:
      project: default
      source: { repoURL: "${REPO}", path: "{{.path.path}}", targetRevision: HEAD }
      destination: { server: "https://kubernetes.default.svc", namespace: "{{.path.basename}}" }
      syncPolicy: { automated: {} }
`;
/** Says at the end how much processor time the command took, which others on the machine change little, and how much memory at most. */
const USED =
  "data:text/javascript,process.on('exit',()=>{const u=process.resourceUsage();process.stderr.write('USED='+u.userCPUTime+' '+u.maxRSS)})";

/**
 * The published program: `init`, `lint` and `plan` on a repo of 10,000 files, and on sets of nearly 10 MiB, of large elements and of small
 * ones: user seconds of the processor and memory, each in a process of its own.
 */
export async function benchRepo(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "stagecoach-bench-program-"));
  try {
    const program = build(join(folder, "program"));
    return [
      ...benchOn(program, `${SERVICES * 4 + 1} files`, "s0", files()),
      ...benchOn(program, "a set of 10 MB", "payments", [["sets/payments.yaml", largeSet(8_800, 18)]]),
      // As many as fit: nobody has so many, and what each costs is seen best.
      ...benchOn(program, "64,000 small elements", "payments", [["sets/payments.yaml", largeSet(64_000, 1)]]),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function benchOn(program: string, what: string, rollout: string, repo: Iterable<[string, string]>): BenchRow[] {
  const dir = mkdtempSync(join(tmpdir(), "stagecoach-bench-repo-"));
  try {
    for (const [path, text] of repo) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
    return [
      ["init", "--write", dir],
      ["lint", "--repo", dir],
      ["plan", rollout, "--to", "v2.0.0", "--repo", dir],
    ].flatMap((args) => measured(program, what, args));
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** A list of clusters as a generator prints it, a version of its own for each. */
function largeSet(clusters: number, settings: number): string {
  const elements = Array.from({ length: clusters }, (_, n) => {
    const env = n < clusters / 10 ? "dev" : n < clusters / 2 ? "staging" : "prod";
    const fields = Array.from({ length: settings }, (_, i) => `            setting${i}: "value of setting ${i} for cluster ${n}"\n`);
    return `          - cluster: c-${n}\n            env: ${env}\n            version: v1.0.0\n${fields.join("")}`;
  });
  return `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: payments, namespace: argocd }
spec:
  goTemplate: true
  generators:
    - list:
        elements:
${elements.join("")}  template:
    metadata: { name: "payments-{{.cluster}}", labels: { env: "{{.env}}" } }
    spec:
      project: default
      source: { repoURL: "${REPO}", path: charts/payments, targetRevision: "{{.version}}" }
      destination: { name: "{{.cluster}}", namespace: payments }
      syncPolicy: { automated: {} }
`;
}

function* files(): Generator<[string, string]> {
  yield ["sets/services.yaml", SET];
  for (let n = 0; n < SERVICES; n++) {
    const image = `ghcr.io/acme/s${n}`;
    const own = `services/s${n}`;
    yield [`${own}/base/kustomization.yaml`, "resources: [deployment.yaml]\n"];
    yield [`${own}/base/deployment.yaml`, `apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: s${n} }\n`];
    for (const env of ["dev", "prod"])
      yield [`${own}/overlays/${env}/kustomization.yaml`, `resources: [../../base]\nimages: [ { name: ${image}, newTag: v1.0.0 } ]\n`];
  }
}

function measured(program: string, what: string, args: readonly string[]): BenchRow[] {
  const done = spawnSync(process.execPath, ["--import", USED, program, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  const said = done.stderr.toString();
  if (done.status !== 0) throw new Error(`${args.join(" ")}: ${said}`);
  const [, micros, kib] = /USED=(\d+) (\d+)/.exec(said) ?? [];
  const name = `${args[0] ?? ""} on ${what}`;
  return [
    { name, value: Number(micros) / 1e6, unit: "s", limit: 3 },
    { name: `${name}, memory`, value: Number(kib) / 1024, unit: "MiB", limit: 400 },
  ];
}
