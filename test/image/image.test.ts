import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { dockerContext, readDockerfile } from "./dockerfile.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const stages = readDockerfile(`${ROOT}Dockerfile`);
const taken = dockerContext(readFileSync(`${ROOT}.dockerignore`, "utf8"));
const files = globSync(["*", ".npmrc", "deploy/**", "docs/**", "fixtures/**", "rollouts/**", "schema/**", "src/**", "test/**"], {
  cwd: ROOT,
});
const last = stages.at(-1);
const all = (name: string) => last?.instructions.filter((instruction) => instruction.name === name).map(({ text }) => text) ?? [];

describe("the image", () => {
  test("is built in stages, all on the Node that the project runs on", () => {
    const major = process.versions.node.split(".")[0];
    expect(stages.map((stage) => stage.from)).toEqual([`node:${major}-slim`, `node:${major}-slim`]);
  });

  test("runs as a numbered user that is not root, and says how it is stopped and whether it is well", () => {
    expect(all("USER")).toEqual([expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/)]);
    expect(all("STOPSIGNAL")).toEqual(["SIGTERM"]);
    expect(all("HEALTHCHECK").join()).toContain("/healthz");
  });

  test("has git and certificates beside Node, and nothing else of the distribution", () => {
    const installed = all("RUN").flatMap((text) => /apt-get install ([^&]*)/.exec(text)?.[1]?.trim().split(/\s+/) ?? []);
    expect(installed.filter((word) => !word.startsWith("--"))).toEqual(["ca-certificates", "git"]);
  });

  test("every file it copies is in the repo and let through, and neither tests nor secrets are", () => {
    const sources = stages.flatMap((stage) =>
      stage.instructions
        .filter(({ name, text }) => name === "COPY" && !text.includes("--from="))
        .flatMap(({ text }) => text.split(/\s+/).slice(0, -1)),
    );
    const context = files.filter(taken);
    for (const source of sources)
      expect(
        context.some((file) => file === source || file.startsWith(`${source}/`)),
        source,
      ).toBe(true);
    expect(context.filter((file) => /\.test\.ts$|^test\/|^docs\/(adr|\.vitepress)\//.test(file))).toEqual([]);
    expect([".env", "key.pem", "src/.env", "node_modules/x/index.js", ".git/config"].filter(taken)).toEqual([]);
    expect(taken("fixtures/fleet/inventory.yaml")).toBe(true);
    expect(taken("fixtures/other/x.yaml")).toBe(false);
  });

  test("instructions over several lines are read as one", () => {
    expect(all("RUN")[0]).toMatch(/^apt-get update .*&& apt-get install .*&& rm -rf/);
  });
});
