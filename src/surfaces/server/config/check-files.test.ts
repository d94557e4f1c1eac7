import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { silentLog } from "../../../engine/round/context.ts";
import { openPlanes } from "../tenancy/planes.ts";
import { checkFiles } from "./check-files.ts";
import { parseServerConfig } from "./file.ts";
import type { ServerConfig } from "./schema.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stagecoach-files-"));
  // As on a machine that knows no cluster.
  vi.stubEnv("HOME", folder).stubEnv("KUBECONFIG", "").stubEnv("KUBERNETES_SERVICE_HOST", "");
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

function config(text: string): ServerConfig {
  const { config: read, problems } = parseServerConfig(`directory: ${join(folder, "mirrors")}\n${text}`, "stagecoach.yaml");
  if (read === undefined) throw new Error(JSON.stringify(problems));
  return read;
}

function refused(text: string): string[] {
  try {
    checkFiles(config(text), {});
  } catch (error) {
    return (error as Error).message.split("\n");
  }
  return [];
}

test("every file that is not there is told, each by its setting", () => {
  const text = `
controlPlanes:
  - { name: a, kind: api, url: "https://x", tokenFile: no-token, caFile: no-ca }
  - { name: b, kubeconfig: no-kubeconfig }
commits: { signing: ssh, sshKeyFile: no-key }
analysis: { secrets: [{ name: web, key: token, file: no-value }], jobs: { namespace: x, kubeconfig: no-jobs } }
hooks: { secretFile: no-secret }`;
  const lines = refused(text);
  expect(lines.map((line) => line.split(": ")[0])).toEqual([
    "controlPlanes[0].tokenFile",
    "controlPlanes[0].caFile",
    "controlPlanes[1].kubeconfig",
    "commits.sshKeyFile",
    "analysis.jobs.kubeconfig",
    "analysis.secrets[0].file",
    "hooks.secretFile",
  ]);
  expect(lines[0]).toMatch(/no-token .*ENOENT/);
});

test("a kubeconfig, an address and a directory that can never work are told, too", () => {
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const kubeconfig = file("kubeconfig", `{"clusters":[],"contexts":[],"users":[]}`);
  const token = file("token", "t");
  const planes = `controlPlanes: [{ name: a, kubeconfig: "${kubeconfig}" }, { name: b, kind: api, url: "http://argocd.example.com", tokenFile: "${token}" }]`;
  expect(refused(planes)).toEqual([
    expect.stringMatching(/^controlPlanes\[0\]\.kubeconfig: .*current-context/),
    expect.stringMatching(/^controlPlanes\[1\]\.url: .*unencrypted/),
  ]);
  expect(() => checkFiles({ ...config(""), directory: join(token, "mirrors") }, {})).toThrow(/^directory: .*token/);
});

test("no kubeconfig at all keeps nothing from starting, and is told in its own words", () => {
  expect(checkFiles(config(""), {})).toEqual([expect.stringMatching(/^controlPlanes\[0\] \(argocd\): .*\$KUBECONFIG/)]);
  expect(refused("controlPlanes: [{ name: a, context: b }]")).toEqual([
    expect.stringMatching(/^controlPlanes\[0\]\.context: .*kubeconfig/),
  ]);
  expect(refused("analysis: { jobs: { namespace: x } }").join()).toMatch(/^analysis\.jobs\.kubeconfig: .*kubeconfig/);
});

test("without a kubeconfig a control plane is not ready, says why at once, and its watches do not repeat it", async () => {
  const warned: unknown[] = [];
  const log = { ...silentLog, warn: (...said: unknown[]) => void warned.push(said) };
  const clock = { now: () => 0, after: () => () => undefined };
  const [plane] = await openPlanes(config("").controlPlanes, { clock, log });
  await expect(plane?.ready()).rejects.toThrow(/\$KUBECONFIG.*controlPlanes/);
  expect(warned).toEqual([]);
  await plane?.close();
});
