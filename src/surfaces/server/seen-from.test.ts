import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sealKey } from "../../adapters/git/journal/seal.ts";
import { credentialsOf } from "./config/env.ts";
import { parseServerConfig } from "./config/file.ts";
import type { ServerConfig } from "./config/schema.ts";
import { audienceOf } from "./seen-from.ts";

const PEM = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const CLIENT = { id: "Iv1.x", secret: "client-secret" };
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "stagecoach-seen-"));
  writeFileSync(join(folder, "long"), `${"s".repeat(40)}\n`);
  writeFileSync(join(folder, "short"), "short\n");
  writeFileSync(join(folder, "pem"), PEM);
});
afterAll(() => rmSync(folder, { recursive: true }));

function config(inside: string): ServerConfig {
  const { config: read, problems } = parseServerConfig(`inside: ${inside.replaceAll("DIR", folder)}`, "stagecoach.yaml");
  if (read === undefined) throw new Error(problems.map(({ code }) => code).join());
  return read;
}
const audience = (inside: string, env = {}) => audienceOf(config(inside), { privateKey: PEM, client: CLIENT }, env);

test("sessions are sealed with a key of the App's private key that is not the journal's, or with the operator's, and former ones hold", () => {
  const { login } = audience("{ login: {} }");
  expect(login).toMatchObject({ clientId: "Iv1.x", clientSecret: "client-secret", lastsMs: 86_400_000 });
  expect(login?.keys.map(({ id }) => id)).not.toContain(sealKey(PEM).id);
  const own = audience("{ login: { lasts: 8h, keyFile: DIR/long, acceptedKeyFiles: [DIR/pem] } }").login;
  expect([own?.lastsMs, own?.keys.length, own?.keys[1]?.id]).toEqual([28_800_000, 2, login?.keys[0].id]);
  expect(audience("{ login: {} }", { SESSION_KEY: "s".repeat(40) }).login?.keys[0].id).toBe(own?.keys[0].id);
  expect(audience("{}").login).toBe(undefined);
});

test("a proxy's headers are read in any case, and its people see what the globs name", () => {
  const { proxy } = audience(
    "{ proxy: { header: X-User, secretFile: DIR/long, from: ['10.0.0.0/8', 'fd00::/8'], repositories: ['Acme/pay-*'] } }",
  );
  expect(proxy).toMatchObject({ header: "x-user", secretHeader: "x-stagecoach-proxy", secret: "s".repeat(40) });
  expect(["acme/pay-eu", "acme/other"].map((name) => proxy?.sees(name))).toEqual([true, false]);
  expect([proxy?.from?.check("10.9.9.9"), proxy?.from?.check("fd00::1", "ipv6"), proxy?.from?.check("11.0.0.1")]).toEqual([
    true,
    true,
    false,
  ]);
});

test.each([
  ["{ login: { lasts: 31d } }", "inside.login.lasts is more than 30d"],
  ["{ login: { keyFile: DIR/short } }", "inside.login.keyFile: a secret for a key has at least 32 characters"],
  ["{ login: { acceptedKeyFiles: [DIR/none] } }", "inside.login.acceptedKeyFiles[0]: the file"],
  ["{ proxy: { secretFile: DIR/short, repositories: ['*/*'] } }", "inside.proxy.secretFile: the secret has fewer than 32 characters"],
  ["{ proxy: { secretFile: DIR/long, header: x-stagecoach-PROXY, repositories: ['*/*'] } }", "header and secretHeader are the same"],
  ["{ proxy: { secretFile: DIR/long, from: [everywhere], repositories: ['*/*'] } }", "WRONG_TYPE"],
  ["{ proxy: { repositories: ['*/*'] } }", "MISSING_KEY"],
  ["{ proxy: { secretFile: DIR/long } }", "MISSING_KEY"],
])("%s is refused: %s", (inside, why) => {
  expect(() => audience(inside)).toThrow(why);
});

test("without the App's client nobody is let to believe that they can sign in", () => {
  const env = { APP_ID: "7", PRIVATE_KEY: PEM, WEBHOOK_SECRET: "s" };
  const client = { GITHUB_CLIENT_ID: "Iv1.x", GITHUB_CLIENT_SECRET: "client-secret" };
  expect(() => credentialsOf(config("{ login: {} }"), env)).toThrow("inside.login needs the App's client id");
  expect(() => credentialsOf(config("{ login: {} }"), { ...env, GITHUB_CLIENT_ID: "Iv1.x" })).toThrow("GITHUB_CLIENT_SECRET_FILE");
  expect(credentialsOf(config("{ login: {} }"), { ...env, ...client })?.client).toEqual(CLIENT);
  expect(credentialsOf(config("{}"), env)?.client).toBe(undefined);
});
