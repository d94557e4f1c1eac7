import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Octokit } from "@octokit/rest";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { run } from "./github.ts";

const git = promisify(execFile);
let folder: string;
let child: ChildProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "stagecoach-sim-"));
});

afterEach(async () => {
  child?.kill("SIGKILL");
  child = undefined;
  await rm(folder, { recursive: true, force: true });
});

/** Starts the command in a process of its own and reads its one line. */
function start(args: string[]): Promise<{ url: string; gitUrl: string; token: string }> {
  const code = `const { run } = await import(${JSON.stringify(new URL("./github.ts", import.meta.url).href)});
    process.exitCode = await run(${JSON.stringify(args)});`;
  const started = spawn(process.execPath, ["--input-type=module", "--eval", code], { stdio: ["ignore", "pipe", "inherit"] });
  child = started;
  return new Promise((resolve, reject) => {
    let text = "";
    started.stdout.on("data", (chunk: Buffer) => {
      text += chunk;
      if (text.includes("\n")) resolve(JSON.parse(text));
    });
    started.on("exit", () => reject(new Error("it ended before it was ready")));
  });
}

describe("stagecoach sim github", () => {
  it("serves a folder as main over REST and Git with the given token, and ends with 0 on SIGTERM", async () => {
    const files = join(folder, "files");
    await mkdir(join(files, "apps"), { recursive: true });
    await writeFile(join(files, "apps", "a.yaml"), "version: v1\n");
    const { url, gitUrl, token } = await start(["--port", "0", "--owner", "acme", "--repo", "config", "--dir", files, "--token", "sesame"]);
    expect(token).toBe("sesame");
    const { data } = await new Octokit({ baseUrl: url, auth: token }).rest.repos.get({ owner: "acme", repo: "config" });
    expect(data.default_branch).toBe("main");
    for (const [index, from] of [gitUrl, `${gitUrl}/acme/config.git`].entries()) {
      await git("git", ["clone", "--quiet", from, join(folder, `clone${index}`)]);
      expect(await readFile(join(folder, `clone${index}`, "apps", "a.yaml"), "utf8")).toBe("version: v1\n");
    }
    const ended = new Promise((resolve) => child?.once("exit", resolve));
    child?.kill("SIGTERM");
    expect(await ended).toBe(0);
  });

  it("leaves nothing in the temporary folder when its terminal is closed", async () => {
    vi.stubEnv("TMPDIR", folder);
    await start(["--owner", "acme", "--repo", "config"]).finally(() => vi.unstubAllEnvs());
    const ended = new Promise((resolve) => child?.once("exit", resolve));
    child?.kill("SIGHUP");
    expect(await ended).toBe(129);
    expect(await readdir(folder)).toEqual([]);
  });

  it("has a README where no folder is given", async () => {
    const { url } = await start(["--owner", "acme", "--repo", "config"]);
    const answer = await fetch(`${url}/repos/acme/config/contents/README.md`);
    expect(((await answer.json()) as { content: string }).content).toBe(Buffer.from("# config\n").toString("base64"));
  });

  it("is known by its public address, wherever it listens", async () => {
    const { url, gitUrl } = await start([
      ...["--owner", "acme", "--repo", "config", "--host", "0.0.0.0", "--public-url", "http://github.example.com:8080/"],
    ]);
    expect([url, gitUrl]).toEqual(["http://github.example.com:8080", "http://github.example.com:8080/acme/config.git"]);
  });

  it("names the option of a port that is taken, and leaves no file", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    vi.stubEnv("TMPDIR", folder);
    try {
      await expect(run(["--owner", "acme", "--repo", "x", "--port", String(port)])).rejects.toMatchObject({
        exitCode: 3,
        message: `--port ${port}: that port is in use by another program; name another, or leave --port out for any that is free`,
      });
      expect(await readdir(folder)).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
      server.close();
    }
  });

  it.each([
    { args: ["--owner", "acme", "--repo", "x", "--host", "0.0.0.0"], words: /--public-url/ },
    { args: ["--owner", "acme", "--repo", "x", "--public-url", "here"], words: /http or https/ },
    { args: ["--owner", "acme"], words: /--repo/ },
    { args: ["--owner", "a b", "--repo", "x"], words: /letters, digits/ },
    { args: ["--owner", "acme", "--repo", "x", "--port", "many"], words: /whole number/ },
    { args: ["--owner", "acme", "--repo", "x", "--port", "99999"], words: /whole number from 0 to 65535/ },
    { args: ["--owner", "acme", "--repo", "x", "--webhook", "http://localhost/"], words: /go together/ },
  ])("takes $args for wrong usage", async ({ args, words }) => {
    await expect(run(args)).rejects.toMatchObject({ exitCode: 2, message: expect.stringMatching(words) });
  });
});
