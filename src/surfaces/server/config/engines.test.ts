import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Clock } from "../../../core/base/time.ts";
import { silentLog } from "../../../engine/round/context.ts";
import { openAnalysis, openHooks } from "./engines.ts";
import { parseServerConfig } from "./file.ts";
import type { ServerConfig } from "./schema.ts";

const dir = mkdtempSync(join(tmpdir(), "stagecoach-gates-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const clock: Clock = { now: () => 0, after: () => () => undefined };
const options = { clock, log: silentLog };

function config(text: string): ServerConfig {
  const { config: read, problems } = parseServerConfig(text, "stagecoach.yaml");
  expect(problems).toEqual([]);
  if (read === undefined) throw new Error("the configuration has a problem");
  return read;
}

describe("analyses of the server's configuration", () => {
  test("without any: the builtin engine, no host and no secret", async () => {
    const { engine, secret } = await openAnalysis(config("{}").analysis, {}, options);
    expect([engine.kind, secret("acme/fleet", "web", "token")]).toEqual(["builtin", undefined]);
  });

  test("a secret is that of the repositories named only, and is read anew at each use", async () => {
    const file = join(dir, "token");
    writeFileSync(file, "one\n");
    const text = `analysis: { secrets: [{ name: web, key: token, file: ${file}, repositories: ["acme/*"] }, { name: web, key: other, env: OTHER }] }`;
    const { secret } = await openAnalysis(config(text).analysis, { OTHER: "two" }, options);
    expect(secret("Acme/Fleet", "web", "token")).toBe("one");
    expect(secret("evil/fleet", "web", "token")).toBeUndefined();
    expect(secret("evil/fleet", "web", "other")).toBe("two");
    expect(secret("acme/fleet", "web", "none")).toBeUndefined();
    writeFileSync(file, "three\n");
    expect(secret("acme/fleet", "web", "token")).toBe("three");
  });

  test.each([
    ["argo-rollouts without a namespace", "analysis: { engine: argo-rollouts }", /analysis\.jobs does not name the namespace/],
    ["a secret without a value", "analysis: { secrets: [{ name: web, key: token }] }", /web\/token needs either file or env/],
    [
      "a kubeconfig that is not there",
      `analysis: { jobs: { namespace: x, kubeconfig: ${dir}/none } }`,
      /jobs.kubeconfig: the file .* cannot be read/,
    ],
  ])("%s is told", async (_name, text, expected) => {
    await expect(openAnalysis(config(text).analysis, {}, options)).rejects.toThrow(expected);
  });
});

describe("hooks of the server's configuration", () => {
  test("a file that is not there is told; the environment comes first", () => {
    const { hooks } = config(`hooks: { secretFile: ${dir}/none }`);
    expect(() => openHooks(hooks, {})).toThrow(/ENOENT/);
    expect(() => openHooks(hooks, { HOOK_SECRET: "s" })).not.toThrow();
  });
});
