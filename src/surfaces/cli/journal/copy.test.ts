import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openCopy } from "./copy.ts";

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

  test("gives git the token by its environment, for that host alone", async () => {
    const { env: given } = await openCopy("acme/fleet", env());
    expect(given["GIT_CONFIG_KEY_0"]).toBe("http.https://github.com/.extraHeader");
    expect(JSON.stringify(given)).not.toContain("ghp_");
  });
});
