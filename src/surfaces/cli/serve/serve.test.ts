import { generateKeyPairSync } from "node:crypto";
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

test("two doors at one port are told with both names, from the file as from the environment", async () => {
  const told = async (config: string, settings: string) => (await check(config, settings).catch((error) => error)).message;
  vi.spyOn(process.stdout, "write").mockImplementation(() => true);
  const both = /^listen\.port \(or PORT\) and inside\.port \(or INSIDE_PORT\) are both 39417: /m;
  expect(await told("listen: { port: 39417 }\ninside: { port: 39417 }\n", "")).toMatch(both);
  expect(await told("inside: { port: 39417 }\n", "PORT=39417\n")).toMatch(both);
  expect(await check("listen: { host: 10.0.0.1, port: 39417 }\ninside: { port: 39417 }\n", "")).toBe(1);
  expect(await check("listen: { port: 0 }\ninside: { port: 0 }\n", "")).toBe(1);
});

test("a valid configuration is said to start, and which fields the environment goes before", async () => {
  const written: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => written.push(String(text)) > 0);
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const credentials = `APP_ID=7\nWEBHOOK_SECRET=long-enough-to-be-one\nPRIVATE_KEY=${Buffer.from(privateKey).toString("base64")}\n`;
  const plane = 'controlPlanes: [{ name: a, kind: api, url: "https://argocd.example.com", tokenFile: TOKEN }]\n'.replace(
    "TOKEN",
    join(folder, "token"),
  );
  writeFileSync(join(folder, "token"), "t");
  expect(await check(plane, credentials)).toBe(0);
  expect(written.join("")).toMatch(/is valid: .*; App 7\.\nIt starts\.\n$/);
  written.length = 0;
  expect(await check(`${plane}github: { privateKeyFile: /nowhere.pem }\n`, credentials)).toBe(0);
  expect(written.join("")).toMatch(/\ngithub\.privateKeyFile is not read: PRIVATE_KEY is set, and goes before it\.\nIt starts\.\n$/);
});

test("what others call the directory is told by its name here", async () => {
  const refused = await check("stateDir: /var/lib/stagecoach\n", "").catch((error) => error);
  expect(refused.message).toContain('did you mean "directory"?');
});

test("--check asks PostgreSQL: without it, serve would not start", async () => {
  vi.spyOn(process.stdout, "write").mockImplementation(() => true);
  const refused = await check("queue: { kind: postgres }\n", "DATABASE_URL=postgresql://u:hidden@127.0.0.1:1/d\n").catch((error) => error);
  expect(refused).toMatchObject({
    exitCode: 3,
    message: expect.stringMatching(/^it does not start: PostgreSQL does not answer: .*ECONNREFUSED/),
  });
});
