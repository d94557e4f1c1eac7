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

/** What both journeys are given. */
const common = {
  github:
    publicUrl === undefined
      ? {}
      : { host: env["STAGECOACH_REAL_GITHUB_HOST"] ?? "0.0.0.0", port: Number(new URL(publicUrl).port || 80), publicUrl },
  argocd: env["STAGECOACH_REAL_NAMESPACE"] ?? "argocd",
  clusters,
  refresh: true,
  settle: "10s",
  ...(image === undefined ? {} : { image }),
  patience: minutes * 60_000,
};

const readKubeconfig = () => readFile(env["KUBECONFIG"]?.split(":")[0] || join(homedir(), ".kube", "config"), "utf8");

test.skipIf(!asked)("the journey against a real Argo CD", { timeout: minutes * 4 * 60_000 }, async () => {
  const outcome = await realJourney({ ...common, access: async () => ({ kubeconfig: await readKubeconfig() }) });
  expect([outcome.run.phase, outcome.errors, outcome.left]).toEqual(["Succeeded", [], []]);
  expect(outcome.run.batches.flatMap((batch) => batch.targets)).toHaveLength(clusters);
  for (const seen of outcome.atMerge) expect(seen).toMatchObject({ revision: NEXT, sync: "Synced", health: "Healthy" });
  expect(outcome.atMerge.length).toBeGreaterThan(0);
});

const url = env["STAGECOACH_REAL_ARGOCD_URL"];
const [tokenFile, caFile] = [env["STAGECOACH_REAL_ARGOCD_TOKEN_FILE"], env["STAGECOACH_REAL_ARGOCD_CA_FILE"]];
if (asked && url === undefined)
  console.error("skipped: the journey through Argo CD's API (set STAGECOACH_REAL_ARGOCD_URL; test/real/README.md)");

test.skipIf(!asked || url === undefined)("the journey through its API", { timeout: minutes * 6 * 60_000 }, async () => {
  const api = { url: url ?? "", token: (await readFile(tokenFile ?? "", "utf8")).trim() };
  const ca = caFile === undefined ? {} : { ca: await readFile(caFile, "utf8") };
  const access = async () => ({ kubeconfig: await readKubeconfig(), api: { ...api, ...ca } });
  const { run, back, byHand, commits, atMerge, errors, left } = await realJourney({ ...common, access, overApi: true });
  expect([run.phase, back?.phase, errors, left]).toEqual(["Succeeded", "RolledBack", [], []]);
  expect(run.batches.map((batch) => batch.targets.length)).toEqual(Array(clusters).fill(1));
  for (const seen of atMerge) expect(seen).toMatchObject({ sync: "Synced", health: "Healthy" });
  expect(byHand.map(({ revision, phase }) => [revision, phase])).toEqual([
    [commits.next, "Succeeded"],
    [commits.first, "Succeeded"],
  ]);
});
