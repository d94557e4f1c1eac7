import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { createWebhooks } from "../deliver/webhooks.ts";
import type { App } from "../model/model.ts";
import { refusal, testGitHub } from "../testing/setup.ts";
import { seededFates } from "./faults.ts";

describe("limits", () => {
  it("stop the eighty-first content write of a minute, and say for how long", async () => {
    const github = await testGitHub({ secondaryLimits: true });
    const octokit = github.appOctokit();
    const { data } = await octokit.rest.issues.create({ ...github.place, title: "x" });
    const comment = () => octokit.rest.issues.createComment({ ...github.place, issue_number: data.number, body: "x" });
    for (let written = 1; written < 80; written++) await comment();
    const answer = await comment().catch((error) => error.response);
    expect(answer).toMatchObject({ status: 403, data: { message: /You have exceeded a secondary rate limit/ } });
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
    expect((await octokit.rest.issues.get({ ...github.place, issue_number: data.number })).data.comments).toBe(79);
    await github.sim.close();
  });

  it("stop reading after 900 points", async () => {
    const github = await testGitHub({ secondaryLimits: true });
    const headers = { authorization: `token ${github.sim.token("rob")}` };
    const read = async () => (await fetch(`${github.sim.url}/users/rob`, { headers })).status;
    const statuses = [];
    for (let asked = 0; asked < 901; asked++) statuses.push(await read());
    expect([statuses.filter((status) => status === 200).length, statuses.at(-1)]).toEqual([900, 403]);
    await github.sim.close();
  });

  it("count GraphQL apart, and a 304 not at all", async () => {
    const github = await testGitHub();
    const headers = { authorization: `token ${github.sim.token("rob")}` };
    const used = async () =>
      (await (await fetch(`${github.sim.url}/rate_limit`, { headers })).json()) as { resources: Record<string, { used: number }> };
    const first = await fetch(`${github.sim.url}/repos/acme/config`, { headers });
    const etag = first.headers.get("etag") ?? "";
    const again = await fetch(`${github.sim.url}/repos/acme/config`, { headers: { ...headers, "if-none-match": etag } });
    expect(again.status).toBe(304);
    await fetch(`${github.sim.url}/graphql`, { method: "POST", headers, body: JSON.stringify({ query: "{ viewer { login } }" }) });
    const { resources } = await used();
    expect([resources["core"]?.used, resources["graphql"]?.used]).toEqual([1, 1]);
    await github.sim.close();
  });
});

describe("faults", () => {
  it("fall the same for the same seed, and in the shares that were asked for", () => {
    const chaos = { seed: 7, drop: 0.2, double: 0.2, delay: 0.2, swap: 0.2 };
    const draw = (seed: number) => {
      const fate = seededFates({ ...chaos, seed });
      return Array.from({ length: 1000 }, () => fate());
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
    const shares = Map.groupBy(draw(7), (fate) => (typeof fate === "object" ? "delay" : fate));
    for (const name of ["drop", "double", "delay", "swap", "deliver"] as const) {
      expect(shares.get(name)?.length).toBeGreaterThan(150);
      expect(shares.get(name)?.length).toBeLessThan(250);
    }
  });

  it("have it merged and say 502", async () => {
    const github = await testGitHub();
    await github.branch("topic", { "t.txt": "x\n" });
    const number = await github.sim.actAs("wim").openPull(github.repository, { head: "topic", title: "x" });
    github.sim.faults.merge = () => ({ status: 502, message: "Server Error", afterwards: true });
    const pull = { ...github.place, pull_number: number };
    expect((await refusal(github.octokit("mia").rest.pulls.merge(pull))).status).toBe(502);
    expect((await github.octokit("mia").rest.pulls.get(pull)).data.merged).toBe(true);
    await github.sim.close();
  });

  it("leave a dropped delivery among the failed ones, to be asked for again under its GUID; a lost one nowhere", async () => {
    const received: string[] = [];
    const server = createServer((request, response) => {
      received.push(String(request.headers["x-github-delivery"]));
      request.resume().on("end", () => response.end());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const github = await testGitHub({ app: { events: ["push"] } });
    github.sim.setWebhook({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, secret: "s" });
    const fates = ["lose", "drop"] as const;
    let next = 0;
    github.sim.faults.webhook = () => fates[next++] ?? "deliver";
    for (const name of ["a", "b", "c"]) await github.branch(name, { [name]: "x" });
    await github.sim.idle();
    expect(github.sim.deliveries.filter((one) => one.event === "push").map((one) => one.status)).toEqual([0, 200]);
    const [failed] = github.sim.deliveries.filter((one) => one.status === 0);
    github.sim.redeliver(failed?.id ?? 0);
    await github.sim.idle();
    expect(received.at(-1)).toBe(failed?.guid);
    await github.sim.close();
    server.close();
  });

  it("know payloads that GitHub never sends", async () => {
    const github = await testGitHub();
    const clock = { now: () => 0, after: () => () => undefined };
    const hooks = createWebhooks({ clock, faults: { nullReads: 0 }, nextId: () => 1 });
    const app = { ...TEST_APP, hook: { url: github.sim.url, secret: "s" } };
    for (const size of [24, 26]) hooks.emit({ app, name: "push", payload: { text: "x".repeat(size * 1024 * 1024) } });
    await hooks.idle();
    expect(hooks.deliveries).toHaveLength(1);
    await github.sim.close();
  });
});

const somebody = { login: "x", id: 1, type: "User" } as const;
const TEST_APP: App = {
  id: 1,
  slug: "x",
  name: "x",
  owner: somebody,
  bot: somebody,
  clientSecret: "",
  callbackUrls: [],
  publicKey: "",
  permissions: {},
  events: [],
  createdAt: 0,
};
