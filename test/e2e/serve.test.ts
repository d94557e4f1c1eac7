import { spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { SHORT_LAG } from "../../src/sim/argocd/application/lag.ts";
import { type EmbeddedWorld, startWorld } from "../../src/sim/world.ts";
import { WEBHOOK_PATH } from "../../src/surfaces/server/deliveries/server.ts";
import { type ReceivedSpan, startCollector } from "../support/collector.ts";
import { freePort } from "../support/free-port.ts";
import { type ServeProcess, startServe } from "../support/serve-process.ts";

let world: EmbeddedWorld;
let folder: string;
let running: ServeProcess | undefined;

beforeAll(async () => {
  world = await startWorld({ lag: SHORT_LAG });
});

afterAll(() => world.close());

afterEach(async () => {
  running?.child.kill("SIGKILL");
  await running?.ended;
  running = undefined;
  await rm(folder, { recursive: true, force: true });
});

/** In an empty folder, with the embedded GitHub as its Enterprise Server. */
async function serve(args: string[], env: Record<string, string> = {}, files: Record<string, string> = {}): Promise<ServeProcess> {
  folder = await mkdtemp(join(tmpdir(), "stagecoach-serve-"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return again(args, env);
}

function again(args: string[], env: Record<string, string> = {}): ServeProcess {
  const github = { GHE_HOST: new URL(world.github.url).host, GHE_PROTOCOL: "http" };
  running = startServe(args, { cwd: folder, env: { ...github, HOST: "127.0.0.1", PORT: "0", INSIDE_PORT: "0", ...env } });
  return running;
}

const credentials = () => ({ APP_ID: String(world.github.app.id), PRIVATE_KEY: world.github.app.privateKey });

describe("stagecoach serve does not start", () => {
  test.each([
    ["without a webhook secret", {}, /no webhook secret is set.*WEBHOOK_SECRET/],
    ["with the secret everybody knows", { WEBHOOK_SECRET: "development" }, /everybody knows/],
    ["with a secret file that is not there", { WEBHOOK_SECRET_FILE: "nowhere" }, /WEBHOOK_SECRET_FILE: the file \S*nowhere can/],
  ])("%s: exit 2 and one sentence", async (_what, env, words) => {
    const process = await serve([], { ...credentials(), ...env });
    expect(await process.ended).toBe(2);
    expect(process.output()).toMatch(words);
    expect(process.output().trim().split("\n")).toHaveLength(1);
  });

  test("with a faulty configuration: exit 2, each mistake with its place and the nearest key", async () => {
    const process = await serve([], {}, { "stagecoach.yaml": "controlPlanes:\n  - name: hub\n    kubeconfg: x\nresync: 5\n" });
    expect(await process.ended).toBe(2);
    expect(process.output()).toMatch(/stagecoach\.yaml:3:5: unknown key "kubeconfg".*\n.*did you mean "kubeconfig"\?/);
    expect(process.output()).toMatch(/stagecoach\.yaml:4:9: 5 .*BAD_DURATION/);
  });

  test("with PostgreSQL away: exit 3 and one sentence", async () => {
    const config = "controlPlanes: [{ name: hub, kubeconfig: kubeconfig }]\nqueue: { kind: postgres, urlFile: url }\n";
    const files = {
      "stagecoach.yaml": config,
      kubeconfig: world.kubeconfig,
      url: "postgresql://stagecoach:topsecret@127.0.0.1:1/stagecoach",
    };
    const process = await serve([], { ...credentials(), WEBHOOK_SECRET: "s3cret-s3cret" }, files);
    expect(await process.ended).toBe(3);
    expect(process.output().trim()).toMatch(/^stagecoach: PostgreSQL does not answer: connect ECONNREFUSED 127\.0\.0\.1:1;.*$/);
    expect(process.output()).not.toContain("topsecret");
  });

  test("with another App's key: exit 3, and the sentence says what to compare", async () => {
    const process = await serve(
      [],
      { ...credentials(), APP_ID: "999999", WEBHOOK_SECRET: "s3cret-s3cret" },
      { "stagecoach.yaml": `controlPlanes: [{ name: hub, kubeconfig: kubeconfig }]\n`, kubeconfig: world.kubeconfig },
    );
    expect(await process.ended).toBe(3);
    expect(process.output()).toMatch(/refuses the App's key|knows no App with this APP_ID/);
  });

  test("where GitHub does not answer it waits, says so, and ends when it is told to", async () => {
    const process = await serve(
      [],
      { ...credentials(), WEBHOOK_SECRET: "s3cret-s3cret", GHE_HOST: `127.0.0.1:${await freePort()}`, GHE_PROTOCOL: "http" },
      { "stagecoach.yaml": `controlPlanes: [{ name: hub, kubeconfig: kubeconfig }]\n`, kubeconfig: world.kubeconfig },
    );
    await process.until(/"error":"connection refused".*"GitHub does not answer: the start waits for it"/);
    process.child.kill("SIGTERM");
    expect(await process.ended).toBe(0);
  });
});

describe("stagecoach serve without credentials", () => {
  test("shows the set-up page; two clicks make the App, and its credentials are in a file only we can read", async () => {
    const process = await serve(["--public-url", "https://stagecoach.example.com", "--org", "acme"]);
    const [, page = "", key = ""] = await process.until(/(http:\S+:\d+\/)(\?key=\S+)/);
    // Who is logged in to this computer, too, does not see the terminal.
    expect((await fetch(page)).status).toBe(403);
    const opened = await fetch(`${page}${key}`, { redirect: "manual" });
    const headers = { cookie: opened.headers.get("set-cookie")?.split(";")[0] ?? "" };
    const html = await (await fetch(page, { headers })).text();
    const action = /action="([^"]+)"/.exec(html)?.[1] ?? "";
    const manifest = (/name="manifest" value="([^"]+)"/.exec(html)?.[1] ?? "").replaceAll("&quot;", '"').replaceAll("&#39;", "'");
    expect(action).toContain(`${world.github.url}/organizations/acme/settings/apps/new?state=`);
    expect(JSON.parse(manifest)).toMatchObject({
      hook_attributes: { url: `https://stagecoach.example.com${WEBHOOK_PATH}`, active: true },
      default_permissions: { contents: "write", checks: "write" },
      public: false,
    });
    const made = await fetch(action, { method: "POST", body: new URLSearchParams({ manifest }), redirect: "manual" });
    const back = new URL(made.headers.get("location") ?? "");
    expect(back.pathname).toBe("/created");
    const code = back.searchParams.get("code") ?? "";
    // Nobody else's way back, no name but this computer's, and nothing that writes.
    expect((await fetch(`${page}created?code=${code}&state=guessed`)).status).toBe(400);
    expect(await Promise.all([raw(back.href, "GET", { host: "evil.example" }), raw(back.href, "POST", {})])).toEqual([403, 403]);
    expect(await raw(back.href, "GET", { origin: "https://evil.example" })).toBe(403);
    await expect(stat(join(folder, ".env"))).rejects.toThrow("ENOENT");
    const done = await fetch(back, { headers });
    expect([new URL(done.url).pathname, await done.text()]).toEqual(["/", expect.stringMatching(/\/installations\/new"/)]);
    await process.until(/start it again: stagecoach serve/);
    expect((await stat(join(folder, ".env"))).mode & 0o777).toBe(0o600);
    const settings = await readFile(join(folder, ".env"), "utf8");
    expect(settings).toMatch(/^APP_ID=\d+$/m);
    expect(settings).toMatch(/^PRIVATE_KEY="-----BEGIN.*\\n.*-----"$/m);
    process.child.kill("SIGTERM");
    expect(await process.ended).toBe(0);
    await writeFile(join(folder, "kubeconfig"), world.kubeconfig);
    const second = again([], { KUBECONFIG: join(folder, "kubeconfig") });
    await second.until(/"ready"/);
    second.child.kill("SIGTERM");
    expect(await second.ended).toBe(0);
    expect(second.output()).not.toContain("PRIVATE KEY");
  });

  test("in production it says that the App has to be made first", async () => {
    const process = await serve([], { NODE_ENV: "production" });
    expect(await process.ended).toBe(2);
    expect(process.output()).toContain("docs/installation.md");
  });
});

describe("stagecoach serve", () => {
  const config = "controlPlanes:\n  - { name: hub, kubeconfig: kubeconfig, clusterSecrets: true }\nlog: { level: debug }\n";

  test("serves the installed repos, keeps the page inside, tells its numbers and traces, and drains on SIGTERM", async () => {
    const collector = await startCollector();
    const env = { ...credentials(), ...collector.env, WEBHOOK_SECRET: world.webhookSecret };
    const process = await serve([], env, { "stagecoach.yaml": config, kubeconfig: world.kubeconfig });
    const [, url = "", inside = ""] = await process.until(/"url":"([^"]+)","insideUrl":"([^"]+)","msg":"ready"/);
    world.deliverTo(`${url}${WEBHOOK_PATH}`);
    const alice = world.github.actAs("alice");
    const pull = await world.openReleasePull(alice);
    await world.untilComment(pull, "Plan:");
    const status = async (address: string) => (await fetch(address)).status;
    expect(await Promise.all(["/healthz", "/readyz", "/", "/metrics"].map((path) => status(url + path)))).toEqual([200, 200, 404, 404]);
    expect(await Promise.all(["/healthz", "/readyz", "/"].map((path) => status(inside + path)))).toEqual([200, 200, 200]);
    const numbers = await (await fetch(`${inside}/metrics`)).text();
    expect(numbers).toMatch(/stagecoach_deliveries_total\{event="pull_request",outcome="taken"\} [1-9]/);
    expect(numbers).toMatch(/stagecoach_repositories\{state="served"\} 1/);
    expect(numbers).toMatch(/stagecoach_github_calls_left\{installation="\d+",resource="core"\} \d+/);
    expect(numbers).toContain('stagecoach_control_plane_fresh{control_plane="hub"} 1');
    world.github.expireTokens();
    await alice.mergePull(world.repository, pull, "squash");
    await world.untilComment(pull, "**Progressing**");
    const journal = await fetch(`${world.github.url}/repos/${world.repository}/commits/stagecoach%2Fjournal`, {
      headers: { authorization: `token ${world.github.token("alice")}` },
    });
    expect(((await journal.json()) as { commit: { verification: { verified: boolean } } }).commit.verification.verified).toBe(true);
    expect(promtoolOn(await (await fetch(`${inside}/metrics`)).text())).toBe("");
    await forge(url, "forged-delivery-1");
    await process.until(/"delivery":"forged-delivery-1".*"a delivery was refused"/);
    world.noLongerTo(`${url}${WEBHOOK_PATH}`);
    process.child.kill("SIGTERM");
    expect(await process.ended).toBe(0);
    const output = process.output();
    expect(output).toMatch(/"stopping: rounds under way are finished"[\s\S]*"stopped"/);
    expect(output.match(/gh[a-z]_\w{8,}|eyJ\w{8,}|PRIVATE KEY|x-access-token:/g)).toBeNull();
    expect(output).not.toContain(world.webhookSecret);
    await collector.close();
    expectTraces(collector.spans, output);
  });
});

/** Prometheus's own word on what was told, where it is here. */
function promtoolOn(metrics: string): string {
  const input = metrics.replace(/^(# (HELP|TYPE) )?(process|nodejs)_.*\n/gm, "");
  const { stdout, stderr, error } = spawnSync("promtool", ["check", "metrics"], { input, encoding: "utf8" });
  return error === undefined ? stdout + stderr : "";
}

/** From a delivery to the call of GitHub that came of it, and the lines of the log that belong to it. */
function expectTraces(spans: readonly ReceivedSpan[], output: string): void {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const pathOf = (span: ReceivedSpan): string[] => {
    const parent = byId.get(span.parentSpanId ?? "");
    return [...(parent === undefined ? [] : pathOf(parent)), span.name];
  };
  const paths = new Set(spans.map((span) => pathOf(span).join(" > ")));
  for (const path of ["delivery > round > record", "delivery > round > act > Propose > git.", "delivery > round > decide > observe"])
    expect([...paths].filter((one) => one.startsWith(path))).not.toEqual([]);
  expect([...paths].filter((one) => one.includes("github.")).length).toBeGreaterThan(3);
  const moved = output.split("\n").filter((line) => line.includes('"a run moved on"'));
  const traced = moved.filter((line) => spans.some(({ traceId }) => line.includes(`"trace_id":"${traceId}"`)));
  expect([moved.length, traced.length]).toEqual([moved.length, moved.length]);
  expect(JSON.stringify(spans)).not.toMatch(/gh[a-z]_\w{8,}|eyJ\w{8,}|x-access-token:/);
}

async function forge(url: string, delivery: string): Promise<void> {
  const body = JSON.stringify({ repository: { full_name: world.repository } });
  const signature = `sha256=${createHmac("sha256", "guessed").update(body).digest("hex")}`;
  const headers = {
    "content-type": "application/json",
    "x-github-event": "push",
    "x-github-delivery": delivery,
    "x-hub-signature-256": signature,
  };
  expect((await fetch(`${url}${WEBHOOK_PATH}`, { method: "POST", headers, body })).status).toBe(400);
}

/** With headers that `fetch` does not let one choose. */
function raw(url: string, method: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { method, headers }, (response) => resolve(response.resume().statusCode ?? 0))
      .on("error", reject)
      .end();
  });
}
