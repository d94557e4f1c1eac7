import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestGitHub, testGitHub } from "../testing/setup.ts";
import { sign } from "./webhooks.ts";

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

let github: TestGitHub;
let server: Server;
let received: Received[];
let status: number;

beforeEach(async () => {
  received = [];
  status = 200;
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  github = await testGitHub();
  const { port } = server.address() as AddressInfo;
  github.sim.setWebhook({ url: `http://127.0.0.1:${port}/hook`, secret: "secret" });
});

afterEach(async () => {
  await github.sim.close();
  await new Promise((resolve) => server.close(resolve));
});

async function openPull(): Promise<number> {
  await github.branch("topic", { "topic.txt": "x\n" });
  return github.sim.actAs("wim").openPull(github.repository, { head: "topic", title: "Topic" });
}

const events = () =>
  received.map(({ headers, body }) =>
    [headers["x-github-event"], (JSON.parse(body) as { action?: string }).action].filter(Boolean).join("."),
  );

describe("webhooks", () => {
  it("of a push name the files of each commit, by which Argo CD tells whether it is concerned", async () => {
    const files = { "topic.txt": "x\n", "a b/new.yaml": "x\n" };
    const person = github.sim.actAs("wim");
    for (const text of ["x\n", "y\n"])
      await person.push(github.repository, { branch: "topic", files: { ...files, "topic.txt": text }, message: text });
    await github.sim.idle();
    const commits = received.map(({ body }) => (JSON.parse(body) as { commits: object[] }).commits.at(-1));
    expect(commits).toMatchObject([
      { added: ["a b/new.yaml", "topic.txt"], modified: [], removed: [] },
      { added: [], modified: ["topic.txt"], removed: [] },
    ]);
  });

  it("knows the signature of GitHub's own example", () => {
    expect(sign("It's a Secret to Everybody", "Hello, World!")).toBe(
      "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    );
  });

  it("tell the story of a pull request, each signed and with a GUID of its own", async () => {
    const number = await openPull();
    const person = github.sim.actAs("mia");
    await person.label(github.repository, number, ["rollout"]);
    await person.editPull(github.repository, number, { title: "Better" });
    await github.branch("topic", { "topic.txt": "y\n" });
    person.comment(github.repository, number, "/pause");
    await person.review(github.repository, number, "APPROVE");
    await person.closePull(github.repository, number);
    await person.reopenPull(github.repository, number);
    await person.mergePull(github.repository, number);
    await github.sim.idle();
    expect(events().sort()).toEqual(
      [
        ...["push", "push", "push", "issue_comment.created", "pull_request_review.submitted"],
        ...["opened", "labeled", "edited", "synchronize", "closed", "reopened", "closed"].map((action) => `pull_request.${action}`),
      ].sort(),
    );
    expect(new Set(received.map(({ headers }) => headers["x-github-delivery"])).size).toBe(received.length);
    for (const { headers, body } of received) expect(headers["x-hub-signature-256"]).toBe(sign("secret", body));
    for (const { body } of received)
      expect(JSON.parse(body)).toMatchObject({ installation: { id: github.installationId }, repository: { full_name: "acme/config" } });
  });

  it("say of a push what was there before and after", async () => {
    const head = await github.sim.actAs("wim").push(github.repository, { branch: "main", files: { "x.txt": "x\n" }, message: "X" });
    await github.sim.idle();
    const [push] = received.map(({ body }) => JSON.parse(body));
    expect(push).toMatchObject({
      ref: "refs/heads/main",
      before: github.head,
      after: head,
      head_commit: { id: head, message: "X" },
      sender: { login: "wim" },
    });
  });

  it("can be dropped, doubled, delayed and swapped", async () => {
    const fates = ["drop", "double", { delay: 60_000 }, "swap", "deliver"] as const;
    let next = 0;
    github.sim.faults.webhook = () => fates[next++] ?? "deliver";
    const person = github.sim.actAs("wim");
    for (const branch of ["a", "b", "c", "d", "e"])
      await person.push(github.repository, { branch, files: { [branch]: "x" }, message: branch });
    await expect.poll(() => received.length).toBe(4);
    const refs = () => received.map(({ body }) => (JSON.parse(body) as { ref: string }).ref.slice(-1));
    expect([...refs()].sort()).toEqual(["b", "b", "d", "e"]);
    const doubled = received.filter(({ body }) => body.includes('"refs/heads/b"')).map(({ headers }) => headers["x-github-delivery"]);
    expect(new Set(doubled).size).toBe(1);
    github.clock.step(60_000);
    await github.sim.idle();
    expect(refs()).toContain("c");
    expect(github.sim.deliveries).toHaveLength(6);
  });

  it("are sent once, and again under the same GUID only where asked for", async () => {
    status = 500;
    await github.branch("topic", { "topic.txt": "x\n" });
    await github.sim.idle();
    expect(received).toHaveLength(1);
    const failed = github.sim.deliveries.find((one) => one.event === "push");
    expect(failed?.status).toBe(500);
    status = 200;
    expect(github.sim.redeliver(failed?.id ?? 0)).toBe(true);
    await github.sim.idle();
    expect(received.map(({ headers }) => headers["x-github-delivery"])).toEqual([failed?.guid, failed?.guid]);
    expect(github.sim.deliveries.at(-1)).toMatchObject({ redelivery: true, status: 200 });
  });

  it("tell of the App being installed and removed, and nothing of repositories it is not on", async () => {
    const id = github.sim.install("other");
    github.sim.uninstall(id);
    await github.sim.createRepo({ owner: "third", name: "x", files: new Map([["a", "b"]]), installed: false });
    await github.sim.actAs("third").push("third/x", { branch: "main", files: { a: "c" }, message: "c" });
    await github.sim.idle();
    expect(events().sort()).toEqual(["installation.created", "installation.deleted"]);
  });
});
