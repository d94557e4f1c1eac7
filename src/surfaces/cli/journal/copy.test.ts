import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openCopy } from "./copy.ts";
import { fetchJournal } from "./fetch.ts";

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), "stagecoach-copy-"));
});
afterEach(() => rmSync(cache, { recursive: true, force: true }));

const env = () => ({ PATH: process.env["PATH"], XDG_CACHE_HOME: cache, GH_TOKEN: "ghp_mine", GH_ENTERPRISE_TOKEN: "ghp_theirs" });

describe("a repository that is named instead of checked out", () => {
  test.each(["http://ghe.example.com/acme/fleet", "http://github.com/acme/fleet", "http://localhost.example.com/acme/fleet"])(
    "is refused where the person's token would be sent in the clear: %s",
    async (named) => {
      await expect(openCopy(named, env())).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining("without encryption") });
      expect(readdirSync(cache)).toEqual([]);
    },
  );

  test("is fetched without encryption from this machine alone", async () => {
    const { env: given } = await openCopy("http://127.0.0.1:3000/acme/fleet", { ...env(), GH_HOST: "127.0.0.1:3000" });
    expect(given["GIT_CONFIG_KEY_0"]).toBe("http.http://127.0.0.1:3000/.extraHeader");
  });

  test("is opened by several commands at once, and made anew where it was left unfinished", async () => {
    const opened = await Promise.all(Array.from({ length: 12 }, async () => await openCopy("acme/fleet", env())));
    const [directory = ""] = new Set(opened.map((one) => one.directory));
    expect(readdirSync(dirname(directory))).toEqual(["fleet.git"]);
    const config = join(directory, "config");
    expect(readFileSync(config, "utf8")).toContain("url = https://github.com/acme/fleet.git");
    // Nothing of it is written again: a lock that somebody else holds stops nobody.
    writeFileSync(`${config}.lock`, "");
    await openCopy("acme/fleet", env());
    writeFileSync(config, "");
    await openCopy("acme/fleet", env());
    expect(readFileSync(config, "utf8")).toContain("bare = true");
  });

  test("says where it cannot be made", async () => {
    writeFileSync(join(cache, "stagecoach"), "");
    await expect(openCopy("acme/fleet", env())).rejects.toMatchObject({ exitCode: 3, message: expect.stringContaining("can be made at") });
  });

  test("is fetched by a command beside another that moves the ref meanwhile", async () => {
    const bin = join(cache, "bin");
    mkdirSync(bin);
    // Fails as git does beside another fetch, as often as `times` has characters.
    const times = join(cache, "times");
    const script = `#!/bin/sh\n[ -s ${times} ] || exit 0\nsed -i 's/.//' ${times}\necho "error: cannot lock ref 'refs/x': is at 1 but expected 2" >&2\nexit 1\n`;
    writeFileSync(join(bin, "git"), script, { mode: 0o755 });
    const place = { directory: cache, remote: "origin", branch: "j", called: "acme/fleet", env: { PATH: `${bin}:${process.env["PATH"]}` } };
    const asking = { withinMs: 60_000, unasked: true };
    writeFileSync(times, "xxx");
    await fetchJournal(place, asking);
    expect(readFileSync(times, "utf8")).toBe("");
    writeFileSync(times, "x".repeat(50));
    await expect(fetchJournal(place, asking)).rejects.toMatchObject({ exitCode: 3, message: expect.stringContaining("cannot lock ref") });
  });

  test("gives git the token by its environment, for that host alone", async () => {
    const { env: given } = await openCopy("acme/fleet", env());
    expect(given["GIT_CONFIG_KEY_0"]).toBe("http.https://github.com/.extraHeader");
    expect(JSON.stringify(given)).not.toContain("ghp_");
  });
});
