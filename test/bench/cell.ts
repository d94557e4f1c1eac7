import { existsSync, readFileSync } from "node:fs";
import { openCell } from "../../src/adapters/cell/cell.ts";
import type { Answers } from "../../src/adapters/cell/port.ts";
import type { JudgeInput } from "../../src/engine/release-pr/inside-cell.ts";
import { JUDGE_PULL } from "../../src/engine/release-pr/judge-in-cell.ts";
import type { Verdict } from "../../src/engine/release-pr/types.ts";
import { openServerCell } from "../../src/surfaces/server/cell/open.ts";
import type { BenchRow } from "./row.ts";

const BUILT = new URL("../../dist/lib/inside.js", import.meta.url);
const REPO = "https://github.com/acme/config.git";
const [BASE, HEAD, TREE] = ["a".repeat(40), "b".repeat(40), "c".repeat(40)];

const rollout = (version: string) => `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: {name: payments}
spec:
  sourceRef: {kind: ApplicationSet, name: payments, namespace: argocd}
  release: {values: {version: ${version}}}
  pins:
    - {file: appsets/payments.yaml, path: "spec.generators[0].list.elements[cluster={{ cluster.name }}].targetRevision", value: "{{ release.version }}"}
  stages:
    - {name: all, clusters: {selector: {matchLabels: {}}}, maxUnavailable: 10%}
`;

const set = (count: number) => `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: payments, namespace: argocd}
spec:
  goTemplate: true
  generators:
    - list:
        elements:
${Array.from({ length: count }, (_, n) => `          - {cluster: c-${n}, targetRevision: v1.0.0}\n`).join("")}  template:
    metadata: {name: "payments-{{ .cluster }}"}
    spec: {project: payments, source: {repoURL: ${REPO}, path: apps, targetRevision: "{{ .targetRevision }}"}, destination: {name: "{{ .cluster }}", namespace: payments}, syncPolicy: {automated: {}}}
`;

function answersOf(count: number): Answers {
  const manifest = set(count);
  const names = Array.from({ length: count }, (_, n) => `c-${n}`);
  const clusters = names.map((name) => ({ name, server: `https://${name}.example`, labels: {}, registered: true }));
  const applications = names.map((name) => ({
    name: `payments-${name}`,
    namespace: "argocd",
    labels: {},
    owner: { kind: "ApplicationSet", name: "payments" },
    ...{ uid: name, resourceVersion: "1", refreshRequested: false, operationRequested: false, readAt: "2026-11-23T00:00:00.000Z" },
    status: {
      sync: { status: "Synced", revisions: ["a".repeat(40)] },
      health: { status: "Healthy" },
      conditions: [],
      resources: [],
      summary: { images: [] },
    },
    spec: {
      ...{ project: "payments", multiSource: false, automated: true },
      destination: { name, namespace: "payments" },
      sources: [{ repoURL: REPO, path: "apps", targetRevision: "v1.0.0" }],
    },
  }));
  const text = (commit: string, path: string) =>
    path === "appsets/payments.yaml" ? manifest : path === "rollouts/payments.yaml" ? rollout(commit === TREE ? "v2.0.0" : "v1.0.0") : null;
  return {
    log: () => undefined,
    rules: () => undefined,
    tags: () => new Map(),
    revisions: (named: readonly object[]) => named.map((one) => ({ ...one, commit: "hidden" })),
    run: () => undefined,
    index: () => undefined,
    "forge.inTeam": () => true,
    "plane.state": () => ({ fresh: true, since: "2026-01-01T00:00:00.000Z" }),
    "plane.application": (_: string, __: string, name: string) => applications.find((one) => one.name === name),
    "plane.applications": () => applications,
    "plane.applicationSet": () => undefined,
    "plane.clusters": () => clusters,
    "mirror.readFiles": (commit: string, paths: string[]) => new Map(paths.map((path) => [path, text(commit, path)])),
    "mirror.listFiles": (_: string, __?: string, kind?: string) =>
      kind === "link" ? [] : ["appsets/payments.yaml", "rollouts/payments.yaml"],
    "mirror.changedPaths": () => ["rollouts/payments.yaml"],
    "mirror.commitInfo": () => undefined,
    "mirror.isAncestor": () => true,
    "mirror.firstParentLog": () => [],
    "mirror.resolve": () => undefined,
    "mirror.head": () => BASE,
    "mirror.remoteHeads": () => new Map(),
  };
}

const INPUT: JudgeInput = {
  ...{
    repository: "acme/config",
    repoURL: REPO,
    journalBranch: "stagecoach/journal",
    now: Date.UTC(2026, 10, 23),
    freezes: undefined,
    isGranted: false,
  },
  ...{
    analysis: undefined,
    signs: false,
    planes: [{ name: "hub", uiUrl: undefined, generates: false, reads: false, renders: false, syncs: false }],
  },
  base: { commit: BASE, branch: "main", journal: undefined },
  pull: { number: 1, head: HEAD, isFork: false, bypass: undefined as never, touched: ["rollouts/payments.yaml"], tree: TREE },
};

/** Of the processes that this one started: what each holds of its own, in MB; Node itself it shares with this one. */
function heldMb(): number {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").trim().split(" ");
  return Math.max(
    ...children.map((pid) => {
      const [, rss = "0"] = /RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
      return Number(rss) / 1024;
    }),
  );
}

async function judge(count: number): Promise<{ ms: number; heldMs: number; mb: number }> {
  // As it is published, where it was built (`npm run build`): sources bring along what reads them.
  const cell = existsSync(BUILT) ? openCell(BUILT) : openServerCell();
  const answers = answersOf(count);
  let [ms, heldMs, mb] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0];
  for (let tries = 0; tries < 4; tries++) {
    const [begun, before] = [performance.now(), process.threadCpuUsage()];
    const outcome = await cell.run({ name: JUDGE_PULL, input: INPUT, answers });
    const { user, system } = process.threadCpuUsage(before);
    if (outcome.kind !== "done") throw new Error(JSON.stringify(outcome));
    if (tries === 0) mb = heldMb();
    // The first one starts the process.
    else [ms, heldMs] = [Math.min(ms, performance.now() - begun), Math.min(heldMs, (user + system) / 1000)];
    if ((outcome.value as Verdict).check.conclusion === "failure") throw new Error((outcome.value as Verdict).check.summary);
  }
  cell.close();
  return { ms, heldMs, mb };
}

/** What it costs to have a pull request judged apart. */
export async function benchCell(): Promise<BenchRow[]> {
  const [few, many] = [await judge(20), await judge(5000)];
  return [
    { name: "cell: an ordinary pull request, 20 Applications", value: few.ms, unit: "ms", limit: 150 },
    { name: "cell: of which the server's own thread is held", value: few.heldMs, unit: "ms", limit: 50 },
    { name: "cell: memory of its own", value: few.mb, unit: "MB", limit: 60 },
    { name: "cell: the same with 5,000 Applications", value: many.ms, unit: "ms" },
    { name: "cell: of which the server's own thread is held", value: many.heldMs, unit: "ms" },
    { name: "cell: memory of its own with 5,000 Applications", value: many.mb, unit: "MB" },
  ];
}
