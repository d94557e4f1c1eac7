/** How long what Argo CD makes of a commit is believed. What comes of it: `judge-parents.test.ts`. */
import { expect, test } from "vitest";
import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { NOW, REPO } from "../../adapters/argocd/testing/application.ts";
import { silentLog } from "../round/context.ts";
import { openParentRenders } from "./parent-renders.ts";

const CHART = { repoURL: "https://charts.example.com", chart: "fleet" };

/** How often Argo CD is asked when the same commit is asked for at these seconds; `shows`: what it shows of the second source then. */
async function asked(more: object[], at: readonly number[], shows: readonly string[] = []): Promise<number> {
  let now = 0;
  let count = 0;
  const manifests = async () => {
    count++;
    return { kind: "done", objects: [] } as const;
  };
  const plane = { name: "hub", manifests } as unknown as ControlPlane;
  const renders = openParentRenders({ clock: { now: () => now } as never, log: silentLog, repoURL: REPO });
  for (const [index, seconds] of at.entries()) {
    now = NOW + seconds * 1000;
    const status = { sync: { revisions: ["a".repeat(40), shows[index] ?? ""] } };
    const spec = { sources: [{ repoURL: REPO, path: "apps" }, ...more] };
    await renders.at(plane, { namespace: "argocd", name: "root", uid: "1", spec, status } as never, "c".repeat(40), "main");
  }
  return count;
}

test("a commit's answer is kept for ten minutes, also beside a chart of one version", async () => {
  expect(await asked([], [0, 500, 599, 601])).toBe(2);
  expect(await asked([{ ...CHART, targetRevision: "1.2.3" }], [0, 599])).toBe(1);
  expect(await asked([{ repoURL: "https://github.com/acme/x", targetRevision: "b".repeat(40) }], [0, 599])).toBe(1);
});

test.each([
  ["a range of a chart", { ...CHART, targetRevision: "1.x" }],
  ["a branch of another repo", { repoURL: "https://github.com/acme/x", targetRevision: "main" }],
  ["a head of another repo", { repoURL: "https://github.com/acme/x" }],
])("beside %s it is kept for as long as one judgement, and not once Argo CD shows another", async (_, source) => {
  expect(await asked([source], [0, 29, 31])).toBe(2);
  expect(await asked([source], [0, 1, 2], ["1.0.0", "1.0.0", "1.0.1"])).toBe(2);
});
