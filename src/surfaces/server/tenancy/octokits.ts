import { AsyncResource } from "node:async_hooks";
import { Probot, ProbotOctokit } from "probot";
import { writeLanes } from "../../../adapters/forge/github/merge-client.ts";
import { repoAuth } from "../../../adapters/forge/github/repo-auth.ts";
import { paceWithAll } from "../../../adapters/forge/github/write-pacer.ts";
import type { SharedQueue } from "../../../adapters/queue/port.ts";
import { defined } from "../../../core/base/defined.ts";
import type { Credentials } from "../config/env.ts";

type OctokitOptions = NonNullable<ConstructorParameters<typeof ProbotOctokit>[0]>;

export interface GitHubApp extends Omit<Credentials, "client"> {
  /** Of the REST API; default github.com's. */
  baseUrl?: string;
}

/** Calls left in the hour, as an answer's headers say it. */
export interface RateSeen {
  installation: number | undefined;
  resource: string;
  left: number;
}

/** What stands between who asks and the network. */
export type Through = (send: typeof fetch) => typeof fetch;

interface Octokits {
  probot: Probot;
  /** One for each installation, so that what it remembers of GitHub's answers is shared; without an id the App's own. */
  octokit(installationId?: number): Promise<ProbotOctokit>;
}

export interface OctokitsOptions {
  /** About one write a second. */
  pacing: boolean;
  /** Of all replicas. */
  turnToWrite?: SharedQueue["turnToWrite"] | undefined;
  onRate?: (rate: RateSeen) => void;
  through?: Through | undefined;
}

/** Probot with what it takes for granted set right: who may repeat a call, where tokens come from. */
export function openOctokits(app: GitHubApp, options: OctokitsOptions): Octokits {
  const authStrategy = repoAuth();
  const request = { fetch: options.through?.(fetchWithin) ?? fetchWithin };
  // A function, because Probot's own defaults come after plain ones and would switch both on again.
  const Octokit = ProbotOctokit.defaults((given: OctokitOptions) => ({
    ...given,
    authStrategy,
    request: { ...given.request, ...request },
    ...tokensFrom(given, app.baseUrl, request),
    throttle: {
      ...given.throttle,
      enabled: options.pacing,
      retryLimiter: writeLanes(),
      // Not repeated after a wait, which may be an hour: whoever asked is told, and the next round asks again.
      onRateLimit: () => false,
      onSecondaryRateLimit: () => false,
    },
    // What may be repeated is decided where the meaning is known: src/adapters/forge/github.
    retry: { enabled: false },
  }));
  const { appId, privateKey, webhookSecret: secret, baseUrl } = app;
  const probot = new Probot(defined({ appId, privateKey, secret, logLevel: "fatal" as const, Octokit, baseUrl }));
  const made = new Map<number | undefined, Promise<ProbotOctokit>>();
  return {
    probot,
    octokit(installationId) {
      const known = made.get(installationId);
      if (known !== undefined) return known;
      const making = probot.auth(installationId).then((octokit) => {
        const { pacing, turnToWrite: turn, onRate } = options;
        if (pacing && turn !== undefined && installationId !== undefined) paceWithAll(octokit, () => turn(installationId));
        return watched(asAsked(octokit), installationId, onRate);
      });
      made.set(installationId, making);
      making.catch(() => made.delete(installationId));
      return making;
    },
  };
}

/** GitHub itself gives up after ten seconds: who is silent for longer will not answer. */
const ANSWERED_WITHIN_MS = 30_000;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MOST_REDIRECTS = 3;

/**
 * From when it is sent until its answer is whole. A redirect, as of a repository that was renamed, is followed at the very same place alone: no
 * answer sends a token, or what is written, elsewhere.
 */
async function fetchWithin(asked: Parameters<typeof fetch>[0], init: RequestInit = {}): Promise<Response> {
  const limit = AbortSignal.timeout(ANSWERED_WITHIN_MS);
  const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
  let url = new URL(asked instanceof Request ? asked.url : asked);
  for (let redirects = 0; ; redirects++) {
    const answer = await fetch(url, { ...init, signal, redirect: "manual" });
    const location = REDIRECTS.has(answer.status) ? answer.headers.get("location") : null;
    if (location === null || init.redirect === "manual") return answer;
    await answer.body?.cancel();
    const next = new URL(location, url);
    const isRepeatable = /^(?:GET|HEAD)$/i.test(init.method ?? "GET") || answer.status === 307 || answer.status === 308;
    if (next.origin !== url.origin || !isRepeatable || redirects === MOST_REDIRECTS)
      throw new Error(`${url.host} redirects to ${next.host} (${answer.status}), which is not followed`);
    url = next;
  }
}

/** Probot mints installation tokens at github.com whatever its base URL, unless the request it mints them with is told better. */
function tokensFrom(given: OctokitOptions, baseUrl: string | undefined, request: object): Pick<OctokitOptions, "auth"> {
  const auth = given.auth as { request?: { defaults(options: object): unknown } } | undefined;
  if (auth?.request === undefined) return {};
  return { auth: { ...auth, request: auth.request.defaults(defined({ baseUrl, request })) } };
}

/** Sent as whoever asked: what waits for its turn, or for a token that all share, is let go by somebody else's answer. */
function asAsked(octokit: ProbotOctokit): ProbotOctokit {
  octokit.hook.wrap("request", (request, given) => {
    const { fetch: send } = given.request as { fetch: typeof fetch };
    given.request = { ...given.request, fetch: AsyncResource.bind(send) };
    return request(given);
  });
  return octokit;
}

function watched(octokit: ProbotOctokit, installation: number | undefined, onRate: ((rate: RateSeen) => void) | undefined): ProbotOctokit {
  if (onRate === undefined) return octokit;
  octokit.hook.after("request", ({ headers }) => {
    const left = Number(headers["x-ratelimit-remaining"]);
    const resource = headers["x-ratelimit-resource"];
    if (headers["x-ratelimit-remaining"] !== undefined && Number.isFinite(left)) {
      onRate({ installation, resource: typeof resource === "string" ? resource : "core", left });
    }
  });
  return octokit;
}
