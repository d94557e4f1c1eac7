import { createHmac } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openGitHubForge } from "../../../adapters/forge/github/index.ts";
import { said } from "../../../core/reasons/run.ts";
import type { Command } from "../../../core/spec/commands.ts";
import { silentLog } from "../../../engine/round/context.ts";
import { type TestGitHub, testGitHub } from "../../../sim/github/testing/setup.ts";
import { commandInbox } from "../comments/inbox.ts";
import { answersGiven } from "../comments/testing/answers-given.ts";
import type { BotEvent } from "./on-event.ts";
import { type BotServer, startBotServer, WEBHOOK_PATH } from "./server.ts";

const SECRET = "the secret of this test";

let github: TestGitHub;
let server: BotServer;
let heard: BotEvent[];

beforeEach(async () => {
  github = await testGitHub();
  heard = [];
  server = await startBotServer({
    app: { appId: github.sim.app.id, privateKey: github.sim.app.privateKey, webhookSecret: SECRET, baseUrl: github.sim.url },
    log: silentLog,
    onEvent: (event) => heard.push(event),
    state: () => "ready",
    pacing: false,
  });
  github.sim.setWebhook({ url: `${server.url}${WEBHOOK_PATH}`, secret: SECRET });
});

afterEach(async () => {
  await server.close();
  await github.sim.close();
});

async function openPull(): Promise<number> {
  await github.branch("topic", { "topic.txt": "x\n" });
  return github.sim.actAs("wim").openPull(github.repository, { head: "topic", title: "Topic" });
}

async function inbox() {
  const octokit = (await server.octokit(github.installationId)) as unknown as Parameters<typeof openGitHubForge>[0]["octokit"];
  const forge = openGitHubForge({ octokit, repository: github.repository });
  return { forge, commands: answersGiven(commandInbox({ forge, clock: github.clock, log: silentLog })) };
}

async function reactions(comment: number): Promise<string[]> {
  const { data } = await github.octokit("rob").rest.reactions.listForIssueComment({ ...github.place, comment_id: comment });
  return data.map((one) => one.content);
}

function post(body: string, signature: string): Promise<Response> {
  return fetch(`${server.url}${WEBHOOK_PATH}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-github-event": "push",
      "x-github-delivery": "00000000-0000-4000-8000-000000000001",
      "x-hub-signature-256": signature,
    },
    body,
  });
}

const signed = (body: string, secret: string) => `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

describe("from a comment to a command", () => {
  it("a signed webhook says where to look, and the look gives the command with the permission of now", async () => {
    const number = await openPull();
    const comment = github.sim.actAs("wim").comment(github.repository, number, "Odd traffic.\n\n/pause errors on checkout");
    await github.sim.idle();
    const event = heard.find((one) => one.name === "issue_comment");
    expect(event).toMatchObject({ repository: "acme/config", installationId: github.installationId, pull: number });
    const { commands } = await inbox();
    const found = await commands.read("payments", [{ number, batch: 2, shared: false }]);
    expect(found).toEqual<Command[]>([
      {
        id: `${comment}#0`,
        name: "pause",
        args: ["errors", "on", "checkout"],
        flags: {},
        text: "/pause errors on checkout",
        actor: "wim",
        permission: "write",
        createdAt: "2026-11-21T10:00:00.000Z",
        batch: 2,
        pull: number,
      },
    ]);
    expect(await reactions(comment)).toEqual(["eyes"]);
    const [command] = found;
    if (command !== undefined) await commands.answer(command, "done", said("paused"));
    expect(await reactions(comment)).toEqual(["eyes", "rocket"]);
  });

  it("what may not act reaches no run: readers, bots, edited comments, quotes", async () => {
    const number = await openPull();
    const reader = github.sim.actAs("rob").comment(github.repository, number, "/abort");
    const edited = github.sim.actAs("wim").comment(github.repository, number, "hello");
    github.clock.step(2000);
    github.sim.actAs("wim").editComment(github.repository, edited, "/abort");
    github.sim.actAs("wim").comment(github.repository, number, "> /abort\n\nwhat was that?");
    const { forge, commands } = await inbox();
    await forge.stickyComment(number, "stagecoach:x", "/abort");
    expect(await commands.read("payments", [{ number, shared: false }])).toEqual([]);
    expect(await reactions(reader)).toContain("confused");
    expect(await reactions(edited)).toEqual([]);
    const said = (await forge.comments(number)).filter((one) => one.ours).map((one) => one.body);
    expect(said.some((body) => body.includes("needs write permission") && body.includes("you have read"))).toBe(true);
  });

  it("a permission taken away after the comment was written is gone", async () => {
    const number = await openPull();
    github.sim.actAs("wim").comment(github.repository, number, "/pause");
    github.sim.collaborator(github.repository, "wim", "read");
    const { commands } = await inbox();
    expect(await commands.read("payments", [{ number, shared: false }])).toEqual([]);
  });

  it("a comment found late acts only where it makes things safer", async () => {
    const number = await openPull();
    const person = github.sim.actAs("wim");
    person.comment(github.repository, number, "/promote");
    person.comment(github.repository, number, "/pause");
    github.clock.step(16 * 60_000);
    const { commands } = await inbox();
    expect((await commands.read("payments", [{ number, shared: false }])).map((one) => one.name)).toEqual(["pause"]);
  });

  it("refusals are told below each refused comment, each once", async () => {
    const number = await openPull();
    const { forge, commands } = await inbox();
    for (const text of ["/pause one", "/pause two"]) {
      github.sim.actAs("wim").comment(github.repository, number, text);
      commands.touched(number);
      const found = await commands.read("payments", [{ number, shared: false }]);
      const command = found.find((one) => one.text === text);
      if (command !== undefined) await commands.answer(command, "refused", said("the run is paused already"));
    }
    const ours = (await forge.comments(number)).filter((one) => one.ours);
    expect(ours.map(({ body }) => /\/pause \w+/.exec(body)?.[0])).toEqual(["/pause one", "/pause two"]);
  });
});

describe("deliveries", () => {
  it("twice with one GUID are heard once; a dropped one is heard after it is sent again", async () => {
    const number = await openPull();
    await github.sim.idle();
    heard = [];
    github.sim.faults.webhook = () => "double";
    github.sim.actAs("wim").comment(github.repository, number, "/pause");
    await github.sim.idle();
    expect(heard).toHaveLength(1);
    github.sim.faults.webhook = () => "drop";
    github.sim.actAs("wim").comment(github.repository, number, "/resume");
    await github.sim.idle();
    expect(heard).toHaveLength(1);
    github.sim.redeliver(github.sim.deliveries.at(-1)?.id ?? 0);
    await github.sim.idle();
    expect(heard).toHaveLength(2);
  });

  it("are answered at once and well", async () => {
    await openPull();
    await github.sim.idle();
    expect(github.sim.deliveries.filter((one) => one.status !== undefined).map((one) => one.status)).toEqual([200, 200]);
  });

  it.each([
    { what: "a forged signature", signature: (body: string) => signed(body, "guessed") },
    { what: "Probot's default secret", signature: (body: string) => signed(body, "development") },
    { what: "no signature", signature: () => "" },
  ])("with $what are refused and not heard", async ({ signature }) => {
    const body = JSON.stringify({ ref: "refs/heads/main", repository: { full_name: "acme/config" }, installation: { id: 1 } });
    expect((await post(body, signature(body))).status).toBe(400);
    expect(heard).toEqual([]);
    expect((await post(body, signed(body, SECRET))).status).toBe(200);
    expect(heard).toHaveLength(1);
  });

  it("that are too large are refused before they are read", async () => {
    const answer = await new Promise<number>((resolve, reject) => {
      void import("node:http").then(({ request }) => {
        const headers = { "content-type": "application/json", "content-length": 26 * 1024 * 1024 };
        const sending = request(`${server.url}${WEBHOOK_PATH}`, { method: "POST", headers }, (response) => {
          resolve(response.statusCode ?? 0);
          sending.destroy();
        });
        sending.on("error", reject);
        sending.flushHeaders();
      });
    });
    expect(answer).toBe(413);
  });
});

describe("the server", () => {
  it("does not start without a webhook secret", async () => {
    const app = { appId: 1, privateKey: github.sim.app.privateKey, webhookSecret: " " };
    await expect(startBotServer({ app, log: silentLog, onEvent: () => undefined, state: () => "ready" })).rejects.toThrow(/WEBHOOK_SECRET/);
  });

  it("tells that it is alive and ready", async () => {
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect((await fetch(`${server.url}/nothing`)).status).toBe(404);
  });
});
