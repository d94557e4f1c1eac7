/** `-R OWNER/NAME` with every token that a person may have: what is wrong with it, and what to do, in a sentence. */
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { openJournal } from "../../../adapters/git/journal/journal.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import { freshRun, START } from "../../../adapters/git/testing/runs.ts";
import { SEAL } from "../../../adapters/git/testing/seal.ts";
import { type TestGitHub, testGitHub } from "../../../sim/github/testing/setup.ts";
import type { CommandModule } from "../command.ts";
import { postCommand } from "../steer/post-command.ts";
import { sampleRepo } from "../testing/sample-repo.ts";
import { run as list } from "./list.ts";

const here = sampleRepo({ empty: true });
let github: TestGitHub;
let run = freshRun(4, 4);

beforeAll(async () => {
  github = await testGitHub();
  const { sim, repository } = github;
  sim.settings(repository, { private: true });
  const url = sim.repoDirectory(repository);
  const mirror = await openMirror({ directory: join(url, "../journal-mirror.git"), url, allowFile: true });
  const { data } = await github.octokit("mia").rest.issues.create({ ...github.place, title: "the release" });
  run = { ...run, trigger: { ...run.trigger, pull: data.number } };
  await openJournal({ mirror, app: "stagecoach[bot]", seal: SEAL }).record({ runs: [run], subject: "begun", trailers: {}, at: START });
  await mirror.close();
});
afterAll(() => github.sim.close());
afterEach(() => {
  delete github.sim.faults.git;
  delete github.sim.faults.request;
  vi.unstubAllEnvs();
});

const LIST: CommandModule = { run: list };
const PAUSE = postCommand("pause");

/** The exit code, and what `main.ts` would say. */
async function told(command: CommandModule, token: string | undefined, ...argv: string[]): Promise<string> {
  vi.stubEnv("XDG_CACHE_HOME", join(here.dir, "cache"));
  vi.stubEnv("PATH", "/usr/bin:/bin");
  for (const name of ["GH_TOKEN", "GITHUB_TOKEN", "GITHUB_ENTERPRISE_TOKEN"]) vi.stubEnv(name, "");
  vi.stubEnv("GH_ENTERPRISE_TOKEN", token ?? "");
  const place = `${github.sim.url}/${github.repository}`;
  return await command.run([...argv, "-R", place]).then(
    (code) => `${code}`,
    ({ exitCode, message }: { exitCode: number; message: string }) =>
      `${exitCode} ${message.replaceAll(place, "HERE").replaceAll(new URL(place).host, "HOST")}`,
  );
}

const refusal = (status: number, body: string) => async () => ({ status, body });

test.each<[string, () => string | undefined, RegExp, (() => Promise<{ status: number; body: string }>)?]>([
  ["of a reader", () => github.sim.token("rob"), /^0$/],
  ["none", () => undefined, /^3 HERE wants to know who you are, and there is no token: gh auth login, or set GH_TOKEN$/],
  ["a wrong one", () => "ghp_wrong", /^3 HERE does not take the token: it is wrong, or has expired/],
  ["of somebody who cannot see it", () => github.sim.token("eve"), /^3 HERE is not there, or your token cannot see it/],
  [
    "without the right",
    () => github.sim.token("rob"),
    /^3 the token may not read HERE: it needs Contents: read there/,
    refusal(403, "denied"),
  ],
  [
    "that asked too often",
    () => github.sim.token("rob"),
    /^3 HERE takes no more requests for now: try again in a few minutes/,
    refusal(429, "slow"),
  ],
])("a token %s, to read the journal", async (_, token, message, git) => {
  if (git !== undefined) github.sim.faults.git = git;
  expect(await told(LIST, token())).toMatch(message);
});

const limit = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(Math.ceil(Date.now() / 1000) + 3600) };

test.each<[string, () => string | undefined, RegExp, { status: number; body: object; headers?: Record<string, string> }?]>([
  ["none", () => undefined, /^2 there is no token for HOST: gh auth login --hostname HOST, or set GH_HOST=HOST and GH_ENTERPRISE_TOKEN$/],
  [
    "without the right",
    () => github.sim.token("rob"),
    /^1 comment on #\d+: .*your token may not do that; it needs Pull requests: write and Issues: write/,
    { status: 403, body: { message: "Resource not accessible by personal access token" } },
  ],
  [
    "that asked too often",
    () => github.sim.token("rob"),
    /^3 comment on #\d+: GitHub takes no more requests with your token until 20\S+ \S+ UTC: try again then/,
    { status: 403, body: { message: "API rate limit exceeded for user ID 1." }, headers: limit },
  ],
])("a token %s, to steer a run", async (_, token, message, answer) => {
  github.sim.faults.request = ({ method }) => (method === "POST" ? answer : undefined);
  expect(await told(PAUSE, token(), "payments", "--no-wait")).toMatch(message);
});
