import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sayProblem } from "../../../core/report/reasons/problems/problems.ts";
import { silentLog } from "../../../engine/round/context.ts";
import { openPlanes } from "../tenancy/planes.ts";
import { apiUrl, credentialsOf, databaseUrlOf, type Environment, withEnvironment } from "./env.ts";
import { parseServerConfig } from "./file.ts";
import type { ServerConfig } from "./schema.ts";

const PEM = "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----";

function config(text?: string): ServerConfig {
  const { config: read, problems } = parseServerConfig(text, "stagecoach.yaml");
  if (read === undefined) throw new Error(JSON.stringify(problems));
  return read;
}

/** `line:column CODE message → hint` of each. */
function problems(text: string): string[] {
  const found = parseServerConfig(text, "stagecoach.yaml");
  expect(found.config).toBeUndefined();
  return found.problems
    .map((one) => ({ ...one, ...sayProblem(one) }))
    .map(({ line, column, code, message, hint }) => `${line}:${column} ${code} ${message} → ${hint}`);
}

function linesOf(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    return String((error as Error).message).split("\n");
  }
  return [];
}

describe("stagecoach.yaml", () => {
  test("an empty or missing one is what the defaults say", () => {
    expect(config("")).toEqual(config());
    expect(config().controlPlanes).toMatchObject([{ name: "argocd", kind: "kubernetes", clusterSecrets: false, allowRefresh: false }]);
    expect(config().inside.host).toBe("127.0.0.1");
  });

  test.each([
    ["an unknown key", "tennancy: []", /^1:1 UNKNOWN_KEY .* → did you mean "tenancy"\?/],
    ["a wrong type", "listen: { port: http }", /^1:17 WRONG_TYPE listen.port must be a number/],
    ["a port that is none", "listen: { port: 70000 }", /^1:17 BAD_VALUE .*more than 65535/],
    ["two control planes of one name", "controlPlanes: [{ name: a }, { name: a }]", /^1:38 PLANE_TWICE/],
    ["a label that none can be", "controlPlanes: [{ name: a, labels: { 'a b': c } }]", /^1:38 BAD_LABEL/],
    ["a label's value that none can be", "controlPlanes: [{ name: a, labels: { a: 'b c' } }]", /^1:41 BAD_LABEL/],
    [
      "a label that is each cluster's own",
      "controlPlanes: [{ name: a, labels: { name: c } }]",
      /^1:38 PLANE_LABEL "name" is each cluster's own/,
    ],
    ["an upper-case name", "controlPlanes: [{ name: Hub }]", /^1:25 PLANE_NAME/],
    [
      "a key of the other kind",
      "controlPlanes: [{ name: a, kind: api, url: 'https://x', tokenFile: t, context: c }]",
      /KEY_OF_OTHER_KIND context belongs to kind kubernetes/,
    ],
    ["an API without an address", "controlPlanes: [{ name: a, kind: api, tokenFile: t }]", /MISSING_KEY controlPlanes\[0\].url/],
    [
      "an address that is none",
      "controlPlanes: [{ name: a, kind: api, url: argocd, tokenFile: t }]",
      /NOT_AN_ADDRESS "argocd" is not an address/,
    ],
    [
      "a rule for a control plane that is not there",
      "tenancy: [{ repositories: [a/b], controlPlanes: [{ name: argo-cd }] }]",
      /there is no control plane "argo-cd" → did you mean argocd\?/,
    ],
    [
      "a rule that can match no repository",
      "tenancy: [{ repositories: [acme], controlPlanes: [{ name: argocd }] }]",
      /"acme" can match no repository/,
    ],
    ["a glob that is none", "tenancy: [{ repositories: ['a/[b'], controlPlanes: [{ name: argocd }] }]", /"a\/\[b" is not a glob/],
    ["a number without a unit", "resync: 300", /^1:9 BAD_DURATION/],
    ["a resync without end", "resync: 1s", /^1:9 BAD_VALUE resync is 1s, less than 30s/],
    ["a key that signs nothing", "commits: { sshKeyFile: key }", /^1:12 KEY_OF_OTHER_KIND sshKeyFile belongs to signing: ssh/],
    ["signing without a key", "commits: { signing: ssh }", /MISSING_KEY commits.sshKeyFile/],
    ["a freeze that is none", "freezes: [{ schedule: 'every day', duration: 8h }]", /^1:23 BAD_WINDOW/],
    ["GitHub's whole address", "github: { host: 'https://gh.example.com/' }", /^1:17 NOT_A_HOST .* → .*: gh\.example\.com/],
    ["an address nothing listens at", "inside: { host: 999.1.1.1 }", /^1:17 NOT_LISTENABLE "999\.1\.1\.1" is not an address to listen at/],
    ["two documents", "a: 1\n---\nb: 2", /SEVERAL_DOCUMENTS/],
    ["no YAML", "a: [", /SYNTAX/],
  ])("with %s does not start, and says where and what to do", (_what, text, words) => {
    expect(problems(text).join("\n")).toMatch(words);
  });

  test.each([
    ["a kind that is none", "controlPlanes: [{ name: a, kind: apii, url: 'https://x', tokenFile: t }]", ["1:34 BAD_VALUE"]],
    ["the key kind itself", "controlPlanes: [{ name: a, kidn: api, url: 'https://x', tokenFile: t }]", ["1:28 UNKNOWN_KEY"]],
    ["a way to sign", "commits: { signing: shh, sshKeyFile: key }", ["1:21 BAD_VALUE"]],
    [
      "one of two control planes",
      "controlPlanes: [{ name: a, kind: apii, url: 'https://x' }, { name: b, url: 'https://x' }]",
      ["1:34 BAD_VALUE", "1:71 KEY_OF_OTHER_KIND"],
    ],
  ])("mistyped, %s is one error", (_what, text, told) => {
    expect(problems(text).map((line) => line.split(" ", 2).join(" "))).toEqual(told);
  });

  test("a secret has no place in it", () => {
    expect(problems("github: { privateKey: x, webhookSecret: y }").map((line) => line.split(" ")[1])).toEqual([
      "UNKNOWN_KEY",
      "UNKNOWN_KEY",
    ]);
  });
});

describe("the environment", () => {
  const file = config("listen: { port: 8080 }\nlog: { level: warn }\ngithub: { host: a.example.com }");

  test("wins over the file, and what it does not say stays", () => {
    const env = {
      HOST: "::1",
      PORT: "0",
      INSIDE_PORT: "9",
      GHE_HOST: "b.example.com",
      LOG_LEVEL: "trace",
      STAGECOACH_RESYNC: "1h",
      LOG_FORMAT: "",
    };
    const { listen, inside, github, log, resync, drain } = withEnvironment(file, env);
    expect([listen, inside.port, github.host, log, resync, drain]).toEqual([
      { host: "::1", port: 0 },
      9,
      "b.example.com",
      { level: "debug", format: "json" },
      "1h",
      "25s",
    ]);
    expect(withEnvironment(file, {})).toEqual(file);
  });

  test.each([
    [{ PORT: "http" }, /PORT is not a port/],
    [{ PORT: "70000" }, /PORT is not a port/],
    [{ LOG_LEVEL: "loud" }, /LOG_LEVEL has to be one of/],
    [{ STAGECOACH_DRAIN: "10" }, /STAGECOACH_DRAIN is not a duration/],
    [{ STAGECOACH_RESYNC: "5s" }, /less than 30s/],
    [{ GHE_HOST: "https://github.example.com" }, /^GHE_HOST: .* → .*: github\.example\.com$/],
    [{ GHE_HOST: "github.example.com/" }, /^GHE_HOST: .* → .*: github\.example\.com$/],
    [{ HOST: "999.1.1.1" }, /^HOST: "999\.1\.1\.1" is not an address to listen at/],
    [{ INSIDE_HOST: "http://x" }, /^INSIDE_HOST: /],
  ])("%o is refused", (env, words) => {
    expect(() => withEnvironment(file, env)).toThrow(words);
  });

  test("all that cannot be used is told at once, a line each", () => {
    const faulty = { PORT: "abc", LOG_LEVEL: "loud", STAGECOACH_DRAIN: "10", HOST: "1.2.3", GHE_HOST: "a b" };
    const lines = linesOf(() => withEnvironment(file, faulty));
    expect(lines.map((line) => line.split(/[: ]/)[0])).toEqual(["GHE_HOST", "HOST", "PORT", "STAGECOACH_DRAIN", "LOG_LEVEL"]);
  });

  test.each([
    [undefined, "https://api.github.com"],
    ["github.com", "https://api.github.com"],
    ["github.example.com", "https://github.example.com/api/v3"],
    ["acme.ghe.com", "https://api.acme.ghe.com"],
  ])("the API of %s is at %s", (host, url) => {
    expect(apiUrl({ protocol: "https", ...(host === undefined ? {} : { host }) })).toBe(url);
  });
});

describe("the App's credentials", () => {
  let folder: string;
  const path = (name: string) => join(folder, name);
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "stagecoach-config-"));
    writeFileSync(path("key"), `${PEM}\n`);
    writeFileSync(path("secret"), "from-a-file\n");
    writeFileSync(path("empty"), "\n");
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each<[string, (env: Environment) => Environment]>([
    ["the PEM itself", (env) => ({ ...env, PRIVATE_KEY: PEM })],
    ["on one line", (env) => ({ ...env, PRIVATE_KEY: PEM.replaceAll("\n", "\\n") })],
    ["in base64", (env) => ({ ...env, PRIVATE_KEY: Buffer.from(PEM).toString("base64") })],
    ["in a file", (env) => ({ ...env, PRIVATE_KEY_FILE: path("key") })],
    ["in a file as Probot names it", (env) => ({ ...env, PRIVATE_KEY_PATH: path("key") })],
  ])("the key may be %s", (_what, with_) => {
    expect(credentialsOf(config(), with_({ APP_ID: "7", WEBHOOK_SECRET: "s" }))).toEqual({ appId: 7, privateKey: PEM, webhookSecret: "s" });
  });

  test("may all be files that the configuration names; the environment wins", () => {
    const text = `github: { appId: 7, privateKeyFile: "${path("key")}", webhookSecretFile: "${path("secret")}" }`;
    expect(credentialsOf(config(text), {})).toEqual({ appId: 7, privateKey: PEM, webhookSecret: "from-a-file" });
    expect(credentialsOf(config(text), { APP_ID: "8", WEBHOOK_SECRET: "other" })).toMatchObject({ appId: 8, webhookSecret: "other" });
  });

  test("without any there is nothing set up yet", () => {
    expect(credentialsOf(config(), { WEBHOOK_SECRET: "s" })).toBeUndefined();
  });

  test.each<[string, Environment, RegExp]>([
    ["no secret", { APP_ID: "7", PRIVATE_KEY: PEM }, /no webhook secret is set/],
    ["a blank secret", { APP_ID: "7", PRIVATE_KEY: PEM, WEBHOOK_SECRET: "  " }, /no webhook secret is set/],
    ["the secret everybody knows", { APP_ID: "7", PRIVATE_KEY: PEM, WEBHOOK_SECRET: "development" }, /everybody knows/],
    ["no key", { APP_ID: "7", WEBHOOK_SECRET: "s" }, /the private key is not/],
    ["no id", { PRIVATE_KEY: PEM, WEBHOOK_SECRET: "s" }, /APP_ID is not/],
    ["an id that is none", { APP_ID: "Iv1.abc", PRIVATE_KEY: PEM, WEBHOOK_SECRET: "s" }, /not a number/],
    ["a key that is none", { APP_ID: "7", PRIVATE_KEY: "topsecret", WEBHOOK_SECRET: "s" }, /not in PEM/],
  ])("with %s are refused, without repeating them", (_what, env, words) => {
    expect(() => credentialsOf(config(), env)).toThrow(words);
    expect(() => credentialsOf(config(), env)).not.toThrow(/topsecret|AAAA/);
  });

  test("in files that are not there are refused by each one's name", () => {
    const lines = linesOf(() =>
      credentialsOf(config(), { APP_ID: "7", PRIVATE_KEY_FILE: path("nokey"), WEBHOOK_SECRET_FILE: path("nosecret") }),
    );
    expect(lines).toEqual([
      expect.stringMatching(/^PRIVATE_KEY_FILE: .*nokey .*ENOENT/),
      expect.stringMatching(/^WEBHOOK_SECRET_FILE: .*nosecret .*ENOENT/),
    ]);
  });

  test("in an empty file are refused by the file's name", () => {
    expect(() => credentialsOf(config(), { APP_ID: "7", PRIVATE_KEY_FILE: path("empty") })).toThrow(/^PRIVATE_KEY_FILE: .*empty is empty/);
  });

  test("PostgreSQL's address names a way of TLS that checks the server, and files that are there", () => {
    const address = (rest: string) =>
      databaseUrlOf(config("queue: { kind: postgres }"), { DATABASE_URL: `postgresql://u:topsecret@h/d${rest}` });
    for (const rest of ["", "?sslmode=verify-full", "?sslmode=disable", `?sslmode=verify-full&sslrootcert=${path("key")}`])
      expect(address(rest)).toContain(rest);
    expect(() => address("?sslmode=verify-ful")).toThrow(
      /^sslmode in queue.urlFile has to be one of disable, require, verify-ca, verify-full$/,
    );
    for (const rest of [
      "sslmode=no-verify",
      "ssl=no-verify",
      "sslmode=verify-full&sslmode=no-verify",
      "uselibpqcompat=true&sslmode=require",
    ])
      expect(() => address(`?${rest}`)).toThrow(/^(sslmode|ssl|uselibpqcompat) in queue.urlFile has to be one of/);
    expect(() => address(`?sslrootcert=${path("gone")}`)).toThrow(/^sslrootcert in queue.urlFile: the file .*gone cannot be read \(ENOENT/);
  });

  test.each(["p@ss", "p@s/s", "p@s?s", "1/ss", "1?ss", "1#ss", "p/ss"])(
    "a password with %s in PostgreSQL's address is to be encoded, and no part of it is told",
    (password) => {
      const address = (text: string) =>
        databaseUrlOf(config("queue: { kind: postgres }"), { DATABASE_URL: `postgresql://u:${text}@db.example/d` });
      expect(address(encodeURIComponent(password))).toContain("@db.example/");
      expect(() => address(password)).toThrow(/^queue.urlFile holds no address .*: @ is %40, \/ is %2F, \? is %3F, # is %23$/);
    },
  );

  test("a control plane's files are looked at before anything starts", async () => {
    const world = { clock: { now: () => 0, after: () => () => undefined }, log: silentLog };
    const open = (text: string) => openPlanes(config(text).controlPlanes, world);
    await expect(open("controlPlanes: [{ name: hub, kubeconfig: nowhere }]")).rejects.toThrow(/control plane hub: .*nowhere/);
    await expect(open("controlPlanes: [{ name: hub, kind: api, url: 'https://x', tokenFile: nowhere }]")).rejects.toThrow(
      /control plane hub: .*nowhere/,
    );
    const kubeconfig = {
      "current-context": "a",
      clusters: [{ name: "a", cluster: { server: "http://127.0.0.1:1" } }],
      users: [],
      contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    };
    writeFileSync(path("kubeconfig"), JSON.stringify(kubeconfig));
    await expect(open(`controlPlanes: [{ name: hub, kubeconfig: "${path("kubeconfig")}", context: b }]`)).rejects.toThrow(
      /no context "b"; it has a/,
    );
  });
});
