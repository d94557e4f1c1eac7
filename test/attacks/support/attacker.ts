import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { EmbeddedWorld } from "../../../src/sim/world.ts";

/** Somebody with an account and what it may do: git with a clone of the repository, and GitHub's API, both with their own token. */
export interface Attacker {
  login: string;
  directory: string;
  git(...args: string[]): Promise<string>;
  /** Answers with the body; throws where GitHub refuses. */
  api<T>(method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: object): Promise<T>;
  close(): Promise<void>;
}

export async function attackerOf({ github, repository }: EmbeddedWorld, login: string): Promise<Attacker> {
  const directory = await mkdtemp(join(tmpdir(), "stagecoach-attack-"));
  const token = github.token(login);
  const environment = {
    ...process.env,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    ...{
      GIT_AUTHOR_NAME: login,
      GIT_AUTHOR_EMAIL: `${login}@example.com`,
      GIT_COMMITTER_NAME: login,
      GIT_COMMITTER_EMAIL: `${login}@example.com`,
    },
  };
  const git = async (...args: string[]) => (await promisify(execFile)("git", args, { cwd: directory, env: environment })).stdout.trim();
  const url = `${github.gitUrl}/${repository}.git`.replace("://", `://${login}:${token}@`);
  await git("init", "--quiet");
  await git("remote", "add", "origin", url);
  return {
    login,
    directory,
    git,
    async api<T>(method: string, path: string, body?: object) {
      const headers = { authorization: `token ${token}`, "content-type": "application/json" };
      const given = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await fetch(`${github.url}/repos/${repository}${path}`, { method, headers, ...given });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return (response.status === 204 ? undefined : await response.json()) as T;
    },
    close: () => rm(directory, { recursive: true, force: true, maxRetries: 5 }),
  };
}
