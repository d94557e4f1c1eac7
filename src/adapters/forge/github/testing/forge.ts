import { ProbotOctokit } from "probot";
import type { TestGitHub } from "../../../../sim/github/testing/setup.ts";
import type { Forge } from "../../port.ts";
import { openGitHubForge } from "../index.ts";
import type { OctokitLike } from "../octokit.ts";
import { repoAuth } from "../repo-auth.ts";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

export interface WatchedForge {
  forge: Forge;
  octokit: OctokitLike;
  /** `METHOD /route`, as they were sent; those that were answered 304 are left out, since they cost nothing. */
  asked: string[];
  writes(): string[];
}

/** An adapter without memory on an Octokit as Probot gives it for the installation, retries on; writes down what it costs. */
export function watchedForge(github: TestGitHub): WatchedForge {
  const { app, url } = github.sim;
  const auth = { appId: app.id, privateKey: app.privateKey, installationId: github.installationId };
  const octokit = new ProbotOctokit({
    authStrategy: repoAuth(),
    auth,
    baseUrl: url,
    throttle: { enabled: false },
    log: quiet,
  }) as unknown as OctokitLike;
  const asked: string[] = [];
  octokit.hook.wrap("request", async (request, options) => {
    const name = `${options.method} ${options.url}`;
    asked.push(name);
    try {
      return await request(options);
    } catch (error) {
      if ((error as { status?: unknown }).status === 304) asked.splice(asked.lastIndexOf(name), 1);
      throw error;
    }
  });
  const writes = () => asked.filter((one) => !one.startsWith("GET") && !one.endsWith("/access_tokens"));
  return { forge: openGitHubForge({ octokit, repository: github.repository }), octokit, asked, writes };
}
