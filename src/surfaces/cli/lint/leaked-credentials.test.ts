import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { run as plan } from "../plan/plan.ts";
import { sampleRepo } from "../testing/sample-repo.ts";
import { run as lint } from "./lint.ts";

const here = sampleRepo();

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** As kubectl prints one, in a list with another before it. */
function printed(fields: string, kind = "Secret"): string {
  return `apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: Secret
    metadata: { name: clean, labels: { argocd.argoproj.io/secret-type: cluster } }
    data: { name: ${base64("eu-1")} }
  - apiVersion: v1
    kind: ${kind}
    metadata:
      name: cluster-eu-2
      labels: { argocd.argoproj.io/secret-type: cluster }
${fields}`;
}

const config = (value: object) => `    data:\n      name: ${base64("eu-2")}\n      config: ${base64(JSON.stringify(value))}\n`;

async function linted(text: string, file = "clusters.yaml"): Promise<string[]> {
  here.clear();
  writeFileSync(join(here.dir, file), text);
  expect(await lint(["--repo", here.dir, "-o", "json"])).toBe(0);
  const { problems } = JSON.parse(here.out) as { problems: { code: string; file: string; line: number; message: string }[] };
  return problems.map(({ code, file: at, line, message }) => `${at}:${line} ${code} ${message}`);
}

describe("credentials of a cluster in a file of the repo are told of, by lint and plan", () => {
  const LEAK = "clusters.yaml:15 CREDENTIALS_IN_REPO Secret cluster-eu-2 holds credentials that open a cluster, in data.config";

  test.each<[string, object]>([
    ["a token", { bearerToken: "s3cret" }],
    ["a password", { username: "admin", password: "s3cret" }],
    ["a client key", { tlsClientConfig: { insecure: false, keyData: "s3cret" } }],
  ])("%s, at its line", async (_, value) => {
    expect(await linted(printed(config(value)))).toEqual([LEAK]);
    expect(here.out).not.toContain("s3cret");
  });

  test("what kubectl apply noted of one holds it, too", async () => {
    const noted = JSON.stringify({ kind: "Secret", stringData: { config: '{"bearerToken":"s3cret"}' } });
    const annotation = `      annotations: { kubectl.kubernetes.io/last-applied-configuration: '${noted}' }\n`;
    expect(await linted(printed(annotation))).toEqual([
      expect.stringMatching(/^clusters\.yaml:13 CREDENTIALS_IN_REPO .* in annotation kubectl\.kubernetes\.io\/last-applied-configuration$/),
    ]);
  });

  test("neither lint nor plan shows the line, and plan goes on", async () => {
    writeFileSync(join(here.dir, "clusters.yaml"), printed(config({ bearerToken: "s3cret" })));
    here.clear();
    expect(await lint(["--repo", here.dir])).toBe(0);
    expect(here.out).toMatch(/clusters\.yaml:15:\d+ warning Secret cluster-eu-2 .*\n {2}→ take the file out of the repo/);
    expect(await plan(["my-app", "--repo", here.dir, "--inventory", join(here.dir, "inventory.yaml")])).toBe(0);
    expect(here.out).toMatch(/warning CREDENTIALS_IN_REPO: clusters\.yaml:15: Secret/);
    expect(here.out).not.toContain(base64(JSON.stringify({ bearerToken: "s3cret" })));
  });

  test.each<[string, string]>([
    ["no credential in its config", printed(config({ awsAuthConfig: { clusterName: "eu-2" }, tlsClientConfig: { caData: "Y2E=" } }))],
    [
      "one that sops has encrypted",
      printed("    stringData: { name: eu-2, config: 'ENC[AES256_GCM,data:x]' }\n    sops: { version: 3 }\n"),
    ],
    ["one that a vault fills in", printed(`    stringData: { name: eu-2, config: '{"bearerToken":"<path:secret/eu-2#token>"}' }\n`)],
    ["a sealed one", printed("    spec: { encryptedData: { config: AgBy } }\n", "SealedSecret")],
    ["a broken file", `argocd.argoproj.io/secret-type: cluster\nconfig: *none\n`],
  ])("%s is none", async (_, text) => {
    expect(await linted(text)).toEqual([]);
  });
});
