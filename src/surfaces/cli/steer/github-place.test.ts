import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { commandSpec } from "../../../core/spec/commands.ts";
import { repositoryIn } from "../github-names.ts";
import { asking, openPlace } from "./github-place.ts";
import { commandText } from "./post-command.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "place-"));
  execFileSync("git", ["init", "--quiet", dir]);
});
afterEach(() => rmSync(dir, { recursive: true }));

async function place(remote: string | undefined, env: Record<string, string>) {
  if (remote !== undefined) execFileSync("git", ["-C", dir, "remote", "add", "origin", remote]);
  const { octokit, owner, repo } = await openPlace({ repo: dir }, env);
  const auth = (await octokit.auth()) as { token?: string };
  return [octokit.request.endpoint.DEFAULTS.baseUrl, owner, repo, auth.token];
}

describe("where a command speaks to", () => {
  test.each([
    ["https://github.com/acme/fleet.git", { host: "github.com", owner: "acme", repo: "fleet" }],
    ["git@github.com:acme/fleet.git", { host: "github.com", owner: "acme", repo: "fleet" }],
    ["ssh://git@ghe.example.com:2222/acme/fleet", { host: "ghe.example.com", owner: "acme", repo: "fleet" }],
    ["https://x-access-token:secret@github.com/acme/fleet/", { host: "github.com", owner: "acme", repo: "fleet" }],
    ["acme/fleet", { owner: "acme", repo: "fleet" }],
    ["ghe.example.com/acme/fleet", { host: "ghe.example.com", owner: "acme", repo: "fleet" }],
    ["https://ghe.example.com:8443/acme/fleet", { host: "ghe.example.com:8443", owner: "acme", repo: "fleet" }],
    ["ghe.example.com:8443/acme/fleet", { host: "ghe.example.com:8443", owner: "acme", repo: "fleet" }],
    ["fleet", undefined],
    ["/srv/git/fleet.git", undefined],
  ])("%s", (text, named) => {
    expect(repositoryIn(text)).toEqual(named);
  });

  test("the clone's remote, on github.com", async () => {
    expect(await place("git@github.com:acme/fleet.git", { GITHUB_TOKEN: "t" })).toEqual(["https://api.github.com", "acme", "fleet", "t"]);
  });

  test("GitHub Enterprise Server by GH_HOST, with its own token", async () => {
    const env = { GH_HOST: "ghe.example.com", GH_ENTERPRISE_TOKEN: "e", GH_TOKEN: "t" };
    expect(await place("git@ghe.example.com:acme/fleet.git", env)).toEqual(["https://ghe.example.com/api/v3", "acme", "fleet", "e"]);
  });

  test("GitHub Enterprise Server on a port of its own, which GH_HOST names and a remote over SSH does not", async () => {
    const env = { GH_HOST: "ghe.example.com:8443", GH_ENTERPRISE_TOKEN: "e" };
    const api = ["https://ghe.example.com:8443/api/v3", "acme", "fleet", "e"];
    expect(await place("ssh://git@ghe.example.com:2222/acme/fleet.git", env)).toEqual(api);
    execFileSync("git", ["-C", dir, "remote", "set-url", "origin", "https://ghe.example.com:8443/acme/fleet"]);
    expect(await place(undefined, { GH_ENTERPRISE_TOKEN: "e" })).toEqual(api);
  });

  test.each(["https://ghe.example.com", "ghe.example.com/api/v3", "ghe.example.com:port", "a b"])(
    "GH_HOST=%s is told to be no host",
    async (host) => {
      await expect(place("git@ghe.example.com:acme/fleet.git", { GH_HOST: host, GH_ENTERPRISE_TOKEN: "e" })).rejects.toThrow(
        "GH_HOST is no host's name",
      );
    },
  );

  test("a token for github.com is not sent to a host that only the remote names", async () => {
    await expect(place("https://evil.example/acme/fleet.git", { GITHUB_TOKEN: "t", GH_TOKEN: "t" })).rejects.toThrow(
      "there is no token for evil.example: gh auth login --hostname evil.example, or set GH_HOST=evil.example and GH_ENTERPRISE_TOKEN",
    );
  });

  test("the folder one stands in is called by its name", async () => {
    const spy = vi.spyOn(process, "cwd").mockReturnValue(dir);
    try {
      await expect(openPlace({ repo: "." }, { GH_TOKEN: "t" })).rejects.toThrow(new RegExp(`^${basename(dir)} has no remote on GitHub`));
    } finally {
      spy.mockRestore();
    }
  });

  test.each([
    [{}, "https://github.com/a/b.git", "there is no token: gh auth login, or set GH_TOKEN or GITHUB_TOKEN"],
    [{ GH_TOKEN: "t" }, undefined, "has no remote on GitHub: give --repository OWNER/NAME"],
    [{ GH_TOKEN: "t", GH_REPO: "fleet" }, undefined, '"fleet" is no repository'],
  ])("what is missing is named: %j %s", async (env, remote, message) => {
    await expect(place(remote, env)).rejects.toThrow(message);
  });
});

test.each([
  [401, 3, "Bad credentials: the token is not taken; it is wrong, or has expired"],
  [403, 1, "Resource not accessible by personal access token: your token may not do that; it needs Pull requests: write"],
  [404, 1, "Not Found: not there, or your token cannot see it"],
])("a token that GitHub answers with %i is told what is wrong with it, and is not shown", async (status, exitCode, message) => {
  const said = message.split(": ")[0] ?? "";
  const call = async () => {
    const request = { method: "POST", url: "https://api.github.com/x", headers: { authorization: "token ghp_secret" } };
    throw Object.assign(new Error(said), { status, request, response: { status, headers: {}, data: { message: said } } });
  };
  const refused = await asking("comment on #7", call).catch((error: unknown) => error);
  expect(refused).toMatchObject({ exitCode, message: expect.stringContaining(`comment on #7: ${message}`) });
  expect(String(refused)).not.toContain("ghp_secret");
});

describe("the comment of a subcommand", () => {
  test.each([
    ["pause", ["errors", "at", "checkout"], {}, "/pause --rollout payments errors at checkout"],
    ["requeue", ["eu-1", "eu-2"], { for: "2h" }, "/requeue --rollout payments --for 2h eu-1 eu-2"],
    ["promote", [], { full: true }, "/promote --rollout payments --full"],
    ["halt", ["cluster=eu-1,eu-2", "disk", "swap"], { for: "2h" }, "/halt --rollout payments --for 2h cluster=eu-1,eu-2 disk swap"],
    ["halt", [], { off: true }, "/halt --rollout payments --off"],
    ["hotfix", ["eu-1", "customer", "down"], {}, "/hotfix --rollout payments eu-1 customer down"],
    ["status", [], {}, "/status --rollout payments"],
  ] as const)("%s", (name, words, options, text) => {
    expect(commandText(commandSpec(name), "payments", words, options)).toBe(text);
  });

  test.each([
    ["pause", ["first\n/abort"], "a command is one line"],
    ["promote", ["eu-1"], "`/promote` takes no words"],
    ["skip", ["--nope"], "`/skip` has no `--nope`"],
    ["skip", [], "name the clusters: stagecoach skip payments CLUSTER…"],
    ["hotfix", [], "name the clusters: stagecoach hotfix payments CLUSTER… REASON"],
  ] as const)("%s %j is never posted", (name, words, message) => {
    expect(() => commandText(commandSpec(name), "payments", words, {})).toThrow(message);
  });
});
