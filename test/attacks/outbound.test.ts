import { generateKeyPairSync } from "node:crypto";
import type { LookupAddress } from "node:dns";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type AnalysisState, isOver } from "../../src/adapters/analysis/port.ts";
import { type Answering, json, startAnswering } from "../../src/adapters/analysis/testing.ts";
import { type OutboundPolicy, outbound } from "../../src/adapters/outbound/outbound.ts";
import { ruleFor } from "../../src/adapters/outbound/rules.ts";
import { readTemplates } from "../../src/core/analysis/template.ts";
import { silentLog } from "../../src/engine/round/context.ts";
import { fastClock } from "../../src/sim/clock.ts";
import { startKubernetes } from "../../src/sim/kubernetes/index.ts";
import { openAnalysis } from "../../src/surfaces/server/config/engines.ts";
import { parseServerConfig } from "../../src/surfaces/server/config/file.ts";
import { openOctokits } from "../../src/surfaces/server/tenancy/octokits.ts";
import { askUntil } from "../support/ask-until.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function serve(): Promise<Answering & { port: string }> {
  const server = await startAnswering(json({ ok: "ok" }));
  open.push(() => server.close());
  return Object.assign(server, { port: server.host.split(":")[1] ?? "" });
}

/** A name server of the attacker's, which says what it likes. */
const at = (...addresses: string[]) =>
  ((_name: string, _options: object, done: (error: null, found: LookupAddress[]) => void) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    )) as unknown as NonNullable<OutboundPolicy["lookup"]>;

async function ask(policy: OutboundPolicy, url: string, headers: Record<string, string> = {}): Promise<string> {
  return await outbound(policy, { url, method: "GET", headers, timeoutMs: 2000 }).then(
    ({ status }) => String(status),
    (error: { kind?: string }) => String(error.kind),
  );
}

describe("somebody who writes a repository's templates", () => {
  test("lets an allowed name point to this machine, its metadata service or the network behind it", async () => {
    const server = await serve();
    const url = `http://metrics.example.com:${server.port}/`;
    const policy = (lookup: OutboundPolicy["lookup"], networks?: string[]) => ({
      allow: [{ host: `*.example.com:${server.port}`, networks }],
      lookup,
    });
    const inside = ["127.0.0.1", "169.254.169.254", "10.0.0.1", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "fd00::1", "0.0.0.0"];
    const through = ["::7f00:1", "::ffff:0:7f00:1", "64:ff9b::a00:1", "64:ff9b:1::a00:1", "2002:a00:1::1", "2001::f5ff:fffe"];
    for (const address of [...inside, ...through]) expect([address, await ask(policy(at(address)), url)]).toEqual([address, "Refused"]);
    expect(await ask(policy(at("93.184.216.34", "127.0.0.1")), url)).toBe("Refused");
    expect(server.requests).toEqual([]);
    // Where the operator wrote down that the name is inside, it is asked.
    expect(await ask(policy(at("127.0.0.1"), ["127.0.0.0/8"]), url)).toBe("200");
    // A name that is written out may be in the cluster, and never on this machine.
    const exact = { allow: [`metrics.example.com:${server.port}`], lookup: at("127.0.0.1") };
    expect(await ask(exact, url)).toBe("Refused");
  });

  test("asks this machine or the cluster's own services under a rule for every host", async () => {
    const server = await serve();
    const allow = ["*", "*:*"];
    const lookup = at("127.0.0.1");
    for (const host of [
      "localhost",
      "a.localhost",
      "prometheus",
      "prometheus.monitoring.svc",
      "x.svc.cluster.local",
      "vault.internal",
      "127.0.0.1",
      "[::1]",
      "2130706433",
    ])
      expect([host, await ask({ allow, lookup }, `http://${host}:${server.port}/`)]).toEqual([host, "Refused"]);
    expect(server.requests).toEqual([]);
    // Refused by its name already: a name service may show it at a public address.
    for (const host of ["localhost", "prometheus.monitoring.svc", "x.svc.cluster.local"])
      expect([host, ruleFor(allow, new URL(`http://${host}:${server.port}/`), undefined)]).toEqual([host, undefined]);
    expect(await ask({ allow: [`localhost:${server.port}`], lookup }, `http://localhost:${server.port}/`)).toBe("200");
  });

  test("says by headers whom a request comes from, or which host it is for", async () => {
    const server = await serve();
    for (const name of [
      "Host",
      "X-Forwarded-For",
      "x-forwarded-host",
      "Forwarded",
      "X-Real-IP",
      "Proxy-Authorization",
      "Transfer-Encoding",
    ])
      expect([name, await ask({ allow: [server.host] }, server.url, { [name]: "127.0.0.1" })]).toEqual([name, "Refused"]);
    expect(server.requests).toEqual([]);
  });

  test("sends a secret, or any request, where another repository's may go", async () => {
    const [mine, theirs] = [await serve(), await serve()];
    const { config, problems } = parseServerConfig(
      `analysis:
  outbound: { allow: ["${mine.host}", { host: "${theirs.host}", repositories: ["globex/*"] }] }
  secrets:
    - { name: web, key: bound, env: BOUND, hosts: ["${mine.host}"] }
    - { name: web, key: loose, env: LOOSE }
`,
      "stagecoach.yaml",
    );
    expect(problems).toEqual([]);
    if (config === undefined) throw new Error("no configuration");
    const clock = { now: () => Date.now(), after: (ms: number, wake: () => void) => timer(ms, wake) };
    const { engine, secret } = await openAnalysis(
      config.analysis,
      { BOUND: "s3cret-of-mine", LOOSE: "t0ken-of-nobody" },
      { clock, log: silentLog },
    );
    open.push(() => engine.close());
    async function measured(id: string, url: string, key?: string): Promise<AnalysisState["phase"]> {
      const args = key === undefined ? "" : `  args: [{ name: key, valueFrom: { secretKeyRef: { name: web, key: ${key} } } }]\n`;
      const header = key === undefined ? "" : "headers: [{ key: Authorization, value: 'Bearer {{args.key}}' }]";
      const text = `apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: { name: t }
spec:
${args}  metrics:
    - { name: m, successCondition: 'result == "ok"', provider: { web: { url: "${url}", jsonPath: "{$.ok}", ${header} } }, consecutiveErrorLimit: 0 }
`;
      const { templates } = readTemplates(text, "t.yaml", { builtin: true });
      const sources = { templates, secret: (name: string, of: string) => secret("acme/fleet", name, of), field: () => undefined };
      const over = new Promise<AnalysisState>((resolve) => {
        engine.onChange((changed) => {
          const state = engine.state(id);
          if (changed === id && state !== undefined && isOver(state)) resolve(state);
        });
      });
      await engine.start(id, { asked: { templates: [{ templateName: "t" }], args: [] }, sources, mustEnd: false });
      return (await over).phase;
    }
    expect(await measured("acme/fleet:1", mine.url)).toBe("Successful");
    expect(await measured("acme/fleet:2", theirs.url)).toBe("Error");
    expect(await measured("globex/config:1", theirs.url)).toBe("Successful");
    expect(await measured("acme/fleet:3", mine.url, "bound")).toBe("Successful");
    expect(await measured("globex/config:2", theirs.url, "bound")).toBe("Error");
    expect(await measured("acme/fleet:4", mine.url, "loose")).toBe("Error");
    expect(mine.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, "Bearer s3cret-of-mine"]);
    expect(theirs.requests).toHaveLength(1);
  });
});

test("a GitHub that is somebody else's redirects a call elsewhere, or a write: nothing is sent there; at the same place a rename is followed", async () => {
  const elsewhere = await serve();
  const answers: Record<string, [number, string]> = {
    "/app/installations/1": [301, "/repositories/7"],
    "/app/installations/2": [301, `${elsewhere.url}/app/installations/2`],
    "/app/installations/3": [302, "/app/installations/3"],
  };
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const [status, location] = answers[request.url ?? ""] ?? [200, ""];
    response.writeHead(status, { "content-type": "application/json", ...(location !== "" && { location }) }).end('{"id":7}');
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  open.push(async () => void server.close());
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { octokit } = openOctokits({ appId: 1, privateKey, webhookSecret: "x", baseUrl }, { pacing: false });
  const app = await octokit();
  const call = (route: string) =>
    app.request(route, { headers: { authorization: "Bearer of-this-host" } }).then(
      ({ status }) => status,
      (error: Error) => error.message,
    );
  expect(await call("GET /app/installations/1")).toBe(200);
  expect(await call("GET /app/installations/2")).toContain(`redirects to ${new URL(elsewhere.url).host} (301), which is not followed`);
  expect(await call("GET /app/installations/3")).toContain("which is not followed");
  expect(await call("DELETE /app/installations/1")).toContain("which is not followed");
  expect(elsewhere.requests).toEqual([]);
  expect(asked.filter((one) => one.includes("installations/3"))).toHaveLength(4);
});

describe("somebody who writes a repository's templates, with a cluster for Jobs and AnalysisRuns", () => {
  const template = (name: string, metric: string) =>
    `apiVersion: argoproj.io/v1alpha1\nkind: AnalysisTemplate\nmetadata: { name: ${name} }\nspec: { metrics: [{ name: m, ${metric} }] }\n`;
  const pod = "template: { spec: { restartPolicy: Never, containers: [{ name: c, image: i }] } }";
  const job = (metadata: string) => `provider: { job: { ${metadata}spec: { ${pod} } } }`;

  test("names the namespace of another repository's Jobs", () => {
    for (const builtin of [true, false]) {
      const { problems } = readTemplates(template("t", job("metadata: { namespace: of-globex }, ")), "t.yaml", { builtin });
      expect(problems).toMatchObject([{ code: "ANALYSIS_VALUE", kind: "Namespace", namespace: "of-globex" }]);
      expect(problems[0]?.severity).toBe("error");
    }
  });

  test.each(["builtin", "argo-rollouts"] as const)(
    "runs a Pod, or takes a template, in another repository's namespace: %s",
    async (kind) => {
      const clock = fastClock(60);
      const sim = await startKubernetes({ clock });
      open.push(() => sim.close());
      const folder = mkdtempSync(join(tmpdir(), "stagecoach-namespaces-"));
      open.push(async () => rmSync(folder, { recursive: true }));
      const kubeconfig = join(folder, "kubeconfig");
      writeFileSync(kubeconfig, sim.kubeconfig());
      const { config, problems } = parseServerConfig(
        `analysis:
  engine: ${kind}
  jobs: { kubeconfig: ${kubeconfig}, namespace: of-all, namespaces: [{ repositories: ["globex/*"], namespace: of-globex }] }
`,
        "stagecoach.yaml",
      );
      if (config === undefined) throw new Error(JSON.stringify(problems));
      const { engine } = await openAnalysis(config.analysis, {}, { clock, log: silentLog });
      open.push(() => engine.close());
      const { templates } = readTemplates(template("t", job("")), "t.yaml", { builtin: true });
      const sources = { templates, secret: () => undefined, field: () => undefined };
      const start = (id: string, templateName = "t") =>
        engine.start(id, { asked: { templates: [{ templateName }], args: [] }, sources, mustEnd: false });
      const what = kind === "builtin" ? "jobs" : "analysisruns";
      const made = () => sim.store.list(what).map(({ metadata }) => metadata.namespace);
      await Promise.all(["acme/fleet:1", "globex/config:1"].map((id) => start(id)));
      await askUntil(
        clock,
        "both are made",
        async () => made().length,
        (count) => count === 2,
      );
      expect(made().toSorted()).toEqual(["of-all", "of-globex"]);
      if (kind === "builtin") return;
      // What each is told of is its own, though both are followed by one engine.
      for (const { metadata } of sim.store.list(what)) {
        const phase = metadata.namespace === "of-globex" ? "Failed" : "Successful";
        sim.store.change(what, metadata.namespace ?? "", metadata.name, (object) => ({ ...object, status: { phase } }));
      }
      const phases = () => ["acme/fleet:1", "globex/config:1"].map((id) => engine.state(id)?.phase).join();
      await askUntil(
        clock,
        "both are over",
        async () => phases(),
        (seen) => seen === "Successful,Failed",
      );
      const theirs = { apiVersion: "argoproj.io/v1alpha1", kind: "AnalysisTemplate", metadata: { name: "theirs", namespace: "of-globex" } };
      sim.store.create({ ...theirs, spec: { metrics: [{ name: "m", provider: { job: { spec: {} } } }] } });
      await expect(start("acme/fleet:2", "theirs")).rejects.toMatchObject({ reason: { code: "ANALYSIS_TEMPLATE", kind: "None" } });
      await start("globex/config:2", "theirs");
    },
  );
});

function timer(ms: number, wake: () => void): () => void {
  const started = setTimeout(wake, ms);
  return () => clearTimeout(started);
}
