import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NEXT } from "./files.ts";
import { realJourney } from "./journey.ts";
import { ALIASES } from "./objects.ts";

const { env } = process;
const asked = env["STAGECOACH_REAL"] === "1";
if (!asked) {
  console.error("skipped: the journey against a real Argo CD (set STAGECOACH_REAL=1 and KUBECONFIG; test/real/README.md)");
}

const minutes = Number(env["STAGECOACH_REAL_MINUTES"] ?? 15);
const clusters = Math.min(ALIASES.length, Math.max(2, Number(env["STAGECOACH_REAL_CLUSTERS"] ?? 3)));
const publicUrl = env["STAGECOACH_REAL_GITHUB_URL"];
const image = env["STAGECOACH_REAL_IMAGE"];

test.skipIf(!asked)("the journey against a real Argo CD", { timeout: minutes * 4 * 60_000 }, async () => {
  const file = env["KUBECONFIG"]?.split(":")[0] || join(homedir(), ".kube", "config");
  const outcome = await realJourney({
    github:
      publicUrl === undefined
        ? {}
        : { host: env["STAGECOACH_REAL_GITHUB_HOST"] ?? "0.0.0.0", port: Number(new URL(publicUrl).port || 80), publicUrl },
    kubeconfig: () => readFile(file, "utf8"),
    argocd: env["STAGECOACH_REAL_NAMESPACE"] ?? "argocd",
    clusters,
    refresh: true,
    settle: "10s",
    ...(image === undefined ? {} : { image }),
    patience: minutes * 60_000,
  });
  expect([outcome.run.phase, outcome.errors, outcome.left]).toEqual(["Succeeded", [], []]);
  expect(outcome.run.batches.flatMap((batch) => batch.targets)).toHaveLength(clusters);
  for (const seen of outcome.atMerge) expect(seen).toMatchObject({ revision: NEXT, sync: "Synced", health: "Healthy" });
  expect(outcome.atMerge.length).toBeGreaterThan(0);
});
