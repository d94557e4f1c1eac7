/**
 * The embedded GitHub as a process of its own, steered by messages: it notes who wrote when, by what the wires put into each request, and may
 * be unwell or send webhooks twice, late or never. Started by `world.ts`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { fastClock } from "../../src/sim/clock.ts";
import type { Chaos } from "../../src/sim/github/http/faults.ts";
import { type GitHubOptions, type GitHubSim, startGitHub } from "../../src/sim/github/start.ts";
import { SENT_AT, SENT_BY } from "./wires.ts";

export interface GitHubSettings {
  port: number;
  publicUrl: string;
  app: { id: number; privateKey: string };
  /** The App may report deployments. */
  deployments: boolean;
  webhook: { url: string; secret: string };
  owner: string;
  /** Name → path → text. */
  repos: Record<string, Record<string, string>>;
  /** Login → role in all of them, and their tokens. */
  people: Record<string, { role: "read" | "write" | "admin"; token: string }>;
}

/** A request that may change something, by a replica. */
export interface Write {
  by: string;
  /** When the replica sent it, in epoch milliseconds. */
  sentAt: number;
  what: string;
  /** `owner/name`; undefined: it names none. */
  repository: string | undefined;
  status: number;
}

export interface GitHubReport {
  writes: Write[];
  deliveries: { guid: string; event: string; status: number | undefined }[];
}

export type GitHubOrder =
  | { order: "start"; settings: GitHubSettings }
  | { order: "argocd"; urls: string[] }
  /** So many of a hundred calls are answered with 502; half of them are done nevertheless. */
  | { order: "unwell"; percent: number }
  | { order: "webhooks"; fates: Chaos | undefined }
  | { order: "report" };

type Permissions = NonNullable<NonNullable<GitHubOptions["app"]>["permissions"]>;

/** As app.yml asks for. */
const PERMISSIONS: Permissions = {
  metadata: "read",
  ...{ contents: "write", pull_requests: "write", issues: "write", checks: "write", statuses: "read" },
};

const writes: Write[] = [];
const argocd: string[] = [];
let unwell = 0;
let calls = 0;
let github: GitHubSim | undefined;

process.on("message", (message: GitHubOrder) => void obey(message));
process.on("disconnect", () => process.exit());

async function obey(message: GitHubOrder): Promise<void> {
  if (message.order === "start") {
    github = await start(message.settings);
    process.send?.("ready");
  } else if (message.order === "argocd") argocd.push(...message.urls);
  else if (message.order === "unwell") unwell = message.percent;
  else if (message.order === "webhooks") github?.chaos(message.fates);
  else process.send?.(await report());
}

async function start(settings: GitHubSettings): Promise<GitHubSim> {
  const { port, publicUrl, app, deployments, webhook, owner, repos, people } = settings;
  const sim = await startGitHub({
    ...{ port, publicUrl, webhook },
    app: { ...app, permissions: { ...PERMISSIONS, ...(deployments ? { deployments: "write" } : {}) } },
    clock: fastClock(),
    onExchange: note,
    onDelivery: tellArgoCd,
  });
  sim.faults.request = ({ actor }) => {
    if (!actor.endsWith("[bot]")) return undefined;
    // Spread evenly, and the same for the same order of calls.
    const falls = Math.floor(((calls + 1) * unwell) / 100) > Math.floor((calls * unwell) / 100);
    calls += 1;
    return falls ? { status: 502, afterwards: calls % 2 === 0 } : undefined;
  };
  for (const [name, files] of Object.entries(repos)) {
    const { repository } = await sim.createRepo({ owner, name, files: new Map(Object.entries(files)) });
    sim.reserveBranches(repository);
    for (const [login, { role, token }] of Object.entries(people)) {
      sim.collaborator(repository, login, role);
      sim.token(login, token);
    }
  }
  return sim;
}

type Exchange = Parameters<NonNullable<GitHubOptions["onExchange"]>>[0];

function note({ method, path, requestHeaders, requestBody, status }: Exchange): void {
  const by = requestHeaders[SENT_BY];
  const body = JSON.stringify(requestBody ?? {});
  const isRead = method === "GET" || method === "HEAD" || path.endsWith("/access_tokens");
  const isQuery = path.endsWith("/graphql") && !body.includes('"query":"mutation');
  if (typeof by !== "string" || isRead || isQuery) return;
  const repository = /\/repos\/([^/]+\/[^/]+)/.exec(path)?.[1] ?? /"repositoryNameWithOwner":"([^"]+)"/.exec(body)?.[1];
  const mutation = /mutation (\w+)/.exec(body)?.[1];
  writes.push({ by, sentAt: Number(requestHeaders[SENT_AT]), what: mutation ?? `${method} ${path}`, repository, status });
}

/** No network between GitHub and Argo CD is ever at fault: what is tried here is the bot. */
function tellArgoCd({ event, payload }: { event: string; payload: unknown }): void {
  if (event !== "push") return;
  for (const url of argocd) {
    const headers = { "content-type": "application/json", "x-github-event": event };
    fetch(`${url}/api/webhook`, { method: "POST", headers, body: JSON.stringify(payload) }).catch(() => undefined);
  }
}

async function report(): Promise<GitHubReport> {
  // What is held up arrives, or is given up.
  await Promise.race([github?.idle(), sleep(15_000)]);
  const deliveries = (github?.deliveries ?? []).map(({ guid, event, status }) => ({ guid, event, status }));
  return { writes, deliveries };
}
