import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { run } from "./serve.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stagecoach-check-"));
  vi.stubEnv("HOME", folder).stubEnv("KUBECONFIG", "").stubEnv("KUBERNETES_SERVICE_HOST", "").stubEnv("STAGECOACH_CONFIG", "");
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

function check(config: string, settings: string): Promise<number> {
  writeFileSync(join(folder, "stagecoach.yaml"), `directory: ${join(folder, "mirrors")}\n${config}`);
  writeFileSync(join(folder, ".env"), settings);
  return run(["--check", "--config", join(folder, "stagecoach.yaml"), "--env", join(folder, ".env")]);
}

test("--check tells the faults of settings, credentials and files together", async () => {
  const refused = await check("hooks: { secretFile: nowhere }\n", "PORT=abc\nLOG_LEVEL=loud\nAPP_ID=x\nPRIVATE_KEY=y\n").catch(
    (error) => error,
  );
  expect(refused).toMatchObject({ exitCode: 2 });
  const words = ["PORT is", "LOG_LEVEL has to", "APP_ID is", "the private key", "no webhook secret", "hooks.secretFile: "];
  for (const line of words) expect(refused.message).toMatch(new RegExp(`^${line}`, "m"));
  expect(refused.message.split("\n")).toHaveLength(words.length);
});

test("an option that others have is told as the variable it is here, and nothing far away is taken for meant", async () => {
  expect(await run(["--port", "3000"]).catch((error) => error.message)).toMatch(/^--port 3000: set the variable PORT;/);
  expect(await run(["--prt", "3000"]).catch((error) => error.message)).toBe("unknown option '--prt'; see stagecoach serve --help");
});

test("with a faulty file, faulty settings are told all the same, and credentials that may stand in it are not missed", async () => {
  const refused = await check("github: { host: 'https://ghe.example.com' }\n", "PORT=abc\nPRIVATE_KEY=y\n").catch((error) => error);
  expect(refused.message).toMatch(/: ghe\.example\.com\nPORT [^\n]*$/);
});

test("no kubeconfig is said beside a configuration that is valid", async () => {
  const written: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => written.push(String(text)) > 0);
  expect(await check("", "")).toBe(1);
  expect(written.join("")).toMatch(/is valid: .*\nIt will not see .*\$KUBECONFIG/);
  expect(written.join("").match(/no kubeconfig/g)).toHaveLength(1);
});

test("--check asks PostgreSQL: without it, serve would not start", async () => {
  vi.spyOn(process.stdout, "write").mockImplementation(() => true);
  const refused = await check("queue: { kind: postgres }\n", "DATABASE_URL=postgresql://u:hidden@127.0.0.1:1/d\n").catch((error) => error);
  expect(refused).toMatchObject({
    exitCode: 3,
    message: expect.stringMatching(/^it does not start: PostgreSQL does not answer: .*ECONNREFUSED/),
  });
});
