/** Whoever may merge in one repository wants everybody else's rounds to stand still, by what they merge. */
import { afterEach, expect, test } from "vitest";
import type { Cell } from "../../src/adapters/cell/port.ts";
import type { ApartInput } from "../../src/engine/config-repo/read-in-cell.ts";
import { openServerCell } from "../../src/surfaces/server/cell/open.ts";
import { askUntil } from "../support/ask-until.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";

const inner = openServerCell({ cpuMs: 300 });
/** What was done in the cell, and how that ended. */
const jobs: string[] = [];
const cell: Cell = {
  async run(job) {
    const outcome = await inner.run(job);
    jobs.push(`${(job.input as Partial<ApartInput>).work ?? job.name} ${outcome.kind}`);
    return outcome;
  },
};
let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  inner.close();
  journey = undefined;
});

/** Rendered on the thread of everybody, this takes seconds at each look, and in a cell more than it may. */
const LOOPS = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: loops, namespace: argocd}
spec:
  goTemplate: true
  generators:
    - list:
        elements:
${Array.from({ length: 4 }, (_, n) => `          - {cluster: c-${n}}\n`).join("")}  template:
    metadata: {name: "{{ .cluster }}{{ range until 30000 }}{{ range until 30000 }}{{ end }}{{ end }}"}
    spec: {project: default}
`;
/** A mistake for each character. */
const MISTAKES = `[${",".repeat(50_000)}]\n`;
const rollout = (version: string) => `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: {name: loops}
spec:
  mode: Propose
  sourceRef: {kind: ApplicationSet, name: loops, namespace: argocd}
  release: {values: {version: ${version}}}
  pins: [{file: appsets/loops.yaml, path: "spec.template.spec.project", value: "{{ release.version }}"}]
  stages: [{name: all, clusters: {selector: {matchLabels: {}}}}]
`;

test("a template that never ends, and YAML of mistakes, are merged in one repository: the run of another goes on to its end", async () => {
  journey = await startJourney({ files: short(), bot: () => ({ cell }) });
  const { github } = journey.world;
  await journey.stop();
  const files = new Map([
    ["appsets/loops.yaml", LOOPS],
    ["rollouts/loops.yaml", rollout("v1.0.0")],
    ["rollouts/mistakes.yaml", MISTAKES],
  ]);
  const evil = "acme/evil";
  await github.createRepo({ owner: "acme", name: "evil", files });
  await journey.start();
  const alice = github.actAs("alice");
  await alice.push(evil, { branch: "v2", files: { "rollouts/loops.yaml": rollout("v2.0.0") }, message: "v2" });
  await alice.mergePull(evil, await alice.openPull(evil, { head: "v2", title: "v2" }), "squash");
  await askUntil(
    journey.world.clock,
    "the set is rendered elsewhere",
    async () => jobs,
    (seen) => seen.includes("render killed"),
    // Each round that does it here instead takes seconds.
    120_000,
  );
  await journey.release();
  await journey.until("it ends", ended);
  expect(journey.run()?.phase).toBe("Succeeded");
  expect(jobs.some((job) => job.startsWith("rollouts "))).toBe(true);
  // What a cell was killed for twice is given to none again.
  expect(jobs.filter((job) => job === "render killed").length).toBeLessThanOrEqual(2);
  expect(journey.errors).toEqual([]);
}, 300_000);
