import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestGitHub, testGitHub } from "../../src/sim/github/testing/setup.ts";
import { type RecordedStep, recordedScenario, shapeDifferences } from "./recorded.ts";

const ORG = "octokit-fixture-org";

let github: TestGitHub;
beforeEach(async () => {
  github = await testGitHub();
});
afterEach(() => github.sim.close());

/** A repository as the recording found it; gives what its plain ids stand for here. */
async function place(name: string, files: Record<string, string> = { "README.md": "# x\n" }) {
  const { head } = await github.sim.createRepo({ owner: ORG, name, files: new Map(Object.entries(files)) });
  return { name, head };
}

async function send(step: RecordedStep, replace: (text: string) => string) {
  const body = step.body === "" || step.body === undefined ? undefined : replace(JSON.stringify(step.body));
  const answer = await fetch(`${github.sim.url}${replace(step.path)}`, {
    method: step.method.toUpperCase(),
    redirect: "manual",
    headers: { accept: step.reqheaders["accept"] ?? "", authorization: `token ${github.sim.token(ORG)}` },
    body: body ?? null,
  });
  const text = await answer.text();
  const json = answer.headers.get("content-type")?.includes("json") === true;
  return { status: answer.status, headers: answer.headers, body: text === "" ? "" : json ? (JSON.parse(text) as unknown) : text };
}

/** Sends the requests of a recording one after the other; each answer has to have the recorded status and shape. */
async function replay(
  name: string,
  replace: (text: string) => string = (text) => text,
  skip: (step: RecordedStep) => boolean = () => false,
) {
  const steps = recordedScenario(name).filter((step) => !skip(step));
  expect(steps.length).toBeGreaterThan(0);
  for (const step of steps) {
    const answer = await send(step, replace);
    const what = `${step.method} ${step.path}`;
    expect(`${what} ${answer.status}`).toBe(`${what} ${step.status}`);
    expect(shapeDifferences(step.response, answer.body).map((line) => `${what} ${line}`)).toEqual([]);
    for (const header of ["link", "location", "etag"]) {
      if (step.headers[header] !== undefined) expect(`${what} ${header} ${answer.headers.has(header)}`).toBe(`${what} ${header} true`);
    }
  }
}

async function repositoryId(name: string): Promise<string> {
  const answer = await fetch(`${github.sim.url}/repos/${ORG}/${name}`);
  return String(((await answer.json()) as { id: number }).id);
}

describe("what was recorded from GitHub is answered alike", () => {
  it("labels put on an issue", async () => {
    await place("add-labels-to-issue");
    await replay("add-labels-to-issue");
  });

  it("protecting a branch", async () => {
    await place("branch-protection");
    github.sim.team(ORG, "a-team", []);
    await replay("branch-protection");
  });

  it("a file made by the API", async () => {
    await place("create-file");
    await replay("create-file");
  });

  it("statuses", async () => {
    const { head } = await place("create-status");
    await replay("create-status", (text) => text.replaceAll(`${"0".repeat(39)}1`, head));
  });

  it("a refused label", async () => {
    await place("errors");
    await replay("errors");
  });

  it("contents, as JSON and raw", async () => {
    await place("hello-world");
    await replay("get-content");
  });

  it("an organisation and a repository", async () => {
    await place("hello-world");
    await replay("get-organization");
    await replay("get-repository");
  });

  it("refs made, moved and deleted", async () => {
    const { head } = await place("git-refs");
    const second = await github.sim.actAs(ORG).push(`${ORG}/git-refs`, { branch: "main", files: { "x.txt": "x" }, message: "x" });
    const ids = (text: string) => text.replaceAll(`${"0".repeat(39)}1`, second).replaceAll(`${"0".repeat(39)}2`, head);
    // The list of all refs is gone from GitHub's API; matching-refs took its place.
    await replay("git-refs", ids, (step) => step.path.endsWith("/git/refs/"));
  });

  it("labels", async () => {
    await place("labels");
    await replay("labels");
  });

  it("an issue locked and unlocked", async () => {
    await place("lock-issue");
    const headers = { authorization: `token ${github.sim.token(ORG)}` };
    await fetch(`${github.sim.url}/repos/${ORG}/lock-issue/issues`, { method: "POST", headers, body: JSON.stringify({ title: "x" }) });
    await replay("lock-issue");
  });

  it("pages of issues", async () => {
    await place("paginate-issues");
    const headers = { authorization: `token ${github.sim.token(ORG)}` };
    for (let issue = 1; issue <= 13; issue++) {
      const body = JSON.stringify({ title: `Issue ${issue}`, body: "b" });
      await fetch(`${github.sim.url}/repos/${ORG}/paginate-issues/issues`, { method: "POST", headers, body });
    }
    const id = await repositoryId("paginate-issues");
    await replay("paginate-issues", (text) => text.replace("/repositories/1000/", `/repositories/${id}/`));
  });

  it("a renamed repository", async () => {
    await place("rename-repository");
    const id = await repositoryId("rename-repository");
    await replay("rename-repository", (text) => text.replace("/repositories/1000", `/repositories/${id}`));
  });
});
