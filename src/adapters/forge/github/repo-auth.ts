/**
 * Gives each call of an installation a token that opens the call's repository alone, and what Stagecoach does there. GitHub's own Octokit
 * has one token for all repositories of an installation: what is asked for one of them could reach every other.
 */
import { createProbotAuth } from "octokit-auth-probot";
import { ASKER_HEADER } from "../../../core/base/asker.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { type Permissions, repositoryIn, type TokenAsked } from "./octokit.ts";

/** What is done in a repository that is looked after; as much of it as the installation was given. docs/permissions.md says what for. */
const TO_WORK: Permissions = {
  metadata: "read",
  contents: "write",
  pull_requests: "write",
  issues: "write",
  checks: "write",
  statuses: "read",
  deployments: "write",
  merge_queues: "write",
  workflows: "write",
  members: "read",
};
/** What another repository of the same owner is asked: what a release is. */
const TO_READ: Permissions = { metadata: "read", contents: "read" };
/** For calls about no repository: which ones there are. */
const TO_LIST: Permissions = { metadata: "read" };

/** A token is replaced so long before its end: nothing that it was taken for may end in the middle. */
const REPLACED_MS = 60_000;
const MOST_TOKENS = 20_000;
/** What an installation was given is asked anew after this, and whether a repository is one of it. */
const GRANTED_MS = 10 * 60_000;
const CLOSED_MS = 60_000;
/** A token that is so new may not be known everywhere at GitHub. */
const NEW_MS = 5_000;

/** What an installation was given, and for whose repositories. */
interface Grant {
  permissions: Permissions;
  /** undefined: of a whole enterprise, which has no login. */
  owner: string | undefined;
}

interface Token {
  token: string;
  createdAt: string;
}

/** What the Octokits of an App know together. */
interface Known {
  tokens: BoundedMap<string, string>;
  granted: BoundedMap<number, { at: number; grant: Promise<Grant> }>;
  /** Repositories that a token cannot be had for, and until when that is believed. */
  closed: BoundedMap<string, number>;
}

interface Call {
  url: string;
  headers: Record<string, string | undefined>;
  owner?: unknown;
  repo?: unknown;
}

type Options = Parameters<typeof createProbotAuth>[0] & { installationId?: number };
type Auth = ReturnType<typeof createProbotAuth>;
type Hook = Auth["hook"];

/** Strategies for `authStrategy` of an App's Octokits: they share their tokens, each asked for once, when it is first wanted. */
export function repoAuth(): (options: Options) => Auth {
  const known: Known = {
    tokens: new BoundedMap(MOST_TOKENS),
    granted: new BoundedMap(MOST_TOKENS),
    closed: new BoundedMap(MOST_TOKENS),
  };
  return (options) => {
    const inner = createProbotAuth({ ...options, cache: cacheOf(known.tokens) } as Options);
    const { installationId } = options;
    return installationId === undefined ? inner : installationAuth(inner, openTokens(inner, options, installationId, known));
  };
}

function installationAuth(inner: Auth, tokens: ReturnType<typeof openTokens>): Auth {
  const auth = async (asked: Parameters<Auth>[0]): Promise<unknown> => {
    if (asked.type !== "installation" || "factory" in asked) return inner(asked);
    const { call, repository, wanted = TO_WORK, refresh } = asked as TokenAsked;
    if (call !== undefined) return tokens.ofCall(call as Call, refresh);
    return repository === undefined ? tokens.plain(refresh) : tokens.of(repository, wanted, refresh);
  };
  const hook = async (request: Parameters<Hook>[0], route: string, parameters?: Parameters<Hook>[2]) => {
    const endpoint = request.endpoint.merge(route, parameters) as Call & Parameters<typeof request.endpoint.parse>[0];
    if (/^\/app(?:\/|$)/.test(endpoint.url)) return inner.hook(request, route, parameters);
    for (let tried = 1; ; tried++) {
      const { token, createdAt } = await tokens.ofCall(endpoint);
      endpoint.headers["authorization"] = `token ${token}`;
      try {
        return await request(endpoint);
      } catch (error) {
        const isNew = Date.now() - Date.parse(createdAt) < NEW_MS;
        if ((error as { status?: unknown }).status !== 401 || !isNew || tried > 2) throw error;
        await new Promise((resolve) => setTimeout(resolve, tried * 1000));
      }
    }
  };
  return Object.assign(auth, { hook: hook as Hook });
}

function openTokens(inner: Auth, options: Options, installationId: number, { granted, closed }: Known) {
  const mint = (asked: object) => inner({ type: "installation", installationId, ...asked } as Parameters<Auth>[0]) as Promise<Token>;
  const plain = (refresh?: boolean) => mint({ permissions: TO_LIST, refresh });

  function given(refresh: boolean | undefined): Promise<Grant> {
    const last = granted.get(installationId);
    if (last !== undefined && refresh !== true && Date.now() - last.at < GRANTED_MS) return last.grant;
    const asked = options.octokit.request("GET /app/installations/{installation_id}", { installation_id: installationId });
    const grant = asked.then(({ data: { permissions, account } }): Grant => {
      const owner = account !== null && "login" in account ? account.login.toLowerCase() : undefined;
      return { permissions: permissions as Permissions, owner };
    });
    granted.set(installationId, { at: Date.now(), grant });
    grant.catch(() => granted.get(installationId)?.grant === grant && granted.delete(installationId));
    return grant;
  }

  async function of(repository: string, wanted: Permissions, refresh?: boolean): Promise<Token> {
    const key = `${installationId} ${repository.toLowerCase()}`;
    if (refresh !== true && (closed.get(key) ?? 0) > Date.now()) return plain();
    const repositoryNames = [repository.split("/")[1] ?? ""];
    // Names are asked for without their owner, which is the installation's: of another's repository it would be a namesake's token.
    const isOthers = ({ owner }: Grant) => owner !== undefined && owner !== ownerOf(repository);
    try {
      const grant = await given(refresh);
      if (!isOthers(grant)) return await mint({ repositoryNames, permissions: within(wanted, grant), refresh });
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
    try {
      // It may have been given less since, or its account have another name.
      const grant = await given(true);
      if (!isOthers(grant)) return await mint({ repositoryNames, permissions: within(wanted, grant), refresh });
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
    closed.set(key, Date.now() + CLOSED_MS);
    // It is not, or no more, one of the installation: GitHub answers as it answers everybody.
    return plain();
  }

  function ofCall(call: Call, refresh?: boolean): Promise<Token> {
    const asker = call.headers[ASKER_HEADER];
    const asked = repositoryIn(call) ?? asker;
    if (asked === undefined) return plain(refresh);
    if (asker === undefined || asker.toLowerCase() === asked.toLowerCase()) return of(asked, TO_WORK, refresh);
    return ownerOf(asker) === ownerOf(asked) ? of(asked, TO_READ, refresh) : plain(refresh);
  }

  return { plain, of, ofCall };
}

const ownerOf = (repository: string) => repository.toLowerCase().split("/")[0];

/** No more than was given: GitHub gives no token for more. */
function within(wanted: Permissions, { permissions: given }: Grant): Permissions {
  const both = Object.entries(wanted).filter(([name]) => name === "metadata" || given[name] !== undefined);
  return Object.fromEntries(both.map(([name, level]) => [name, given[name] === "read" ? "read" : level]));
}

function isRefused(error: unknown): boolean {
  return (error as { status?: unknown }).status === 422;
}

/** As auth-app keeps them, `TOKEN|CREATED|EXPIRES|…`: until a minute before their end, by the machine's time as GitHub's own. */
function cacheOf(tokens: Known["tokens"]) {
  return {
    get(key: string): string | undefined {
      const kept = tokens.get(key);
      return kept !== undefined && Date.parse(kept.split("|")[2] ?? "") - REPLACED_MS > Date.now() ? kept : undefined;
    },
    set: (key: string, value: string) => void tokens.set(key, value),
  };
}
