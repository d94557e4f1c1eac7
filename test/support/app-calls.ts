import type { Exchange } from "../../src/sim/github/model/model.ts";
import type { EmbeddedWorld } from "../../src/sim/world.ts";

/** One request of the App to GitHub's API. */
export interface AppCall {
  method: string;
  path: string;
  status: number;
  /** Of a GraphQL document, and whether it is one that changes something. */
  document: string;
  mutates: boolean;
  branch: string;
  /** Of a label or a check that is made; of a check that is changed, what it is known by. */
  name: string;
  /** First line of what is committed. */
  headline: string;
  /** Of the world, in milliseconds. */
  at: number;
}

/** Notes everything the App asks of the API, in order; what was answered 304 is free and is left out. */
export function noteCalls(calls: AppCall[], now: () => number): (exchange: Exchange) => void {
  return ({ method, path, actor, status, requestBody }) => {
    if (actor === undefined || !actor.endsWith("[bot]") || status === 304) return;
    const body = (requestBody ?? {}) as Partial<Record<"query" | "name" | "external_id", string>>;
    const { query, external_id, name = external_id ?? "" } = body;
    const { variables } = body as { variables?: { branch?: { branchName?: string }; message?: { headline?: string } } };
    const [, kind, document = ""] = /(mutation|query)\s+(\w+)/.exec(query ?? "") ?? [];
    const [branch, headline] = [variables?.branch?.branchName ?? "", variables?.message?.headline ?? ""];
    calls.push({ method, path, status, document, mutates: kind === "mutation", branch, headline, name, at: now() });
  };
}

/** A commit in the journal. */
export function isJournalCommit({ document, branch }: AppCall): boolean {
  return document === "CommitOnBranch" && branch === "stagecoach/journal";
}

/** The journal's head is noted where only the App can write. */
export function isAnchor({ name }: AppCall): boolean {
  return name === "stagecoach/journal" || name.startsWith("stagecoach-journal:");
}

/** What GitHub counts as content: a PR, a merge, a comment or its edit. */
export function isContent({ method, path, document }: AppCall): boolean {
  if (document === "ProposeBatch") return true;
  if (method === "PUT" && path.endsWith("/merge")) return true;
  return (method === "PATCH" || method === "POST") && /\/issues\/(?:\d+\/)?comments(?:\/|$)/.test(path);
}

/** Changes something at GitHub; a token that is asked for does not. */
export function isWrite({ method, path, mutates }: AppCall): boolean {
  if (path.endsWith("/graphql")) return mutates;
  return method !== "GET" && method !== "HEAD" && !path.endsWith("/access_tokens");
}

/** Where it went, without numbers and names: `PUT /pulls/N/merge`, or a document's name. */
export function routeOf(call: AppCall): string {
  if (isJournalCommit(call)) return "commit in the journal";
  if (call.document !== "") return call.document;
  const path = call.path.replace(/^\/repos\/[^/]+\/[^/]+/, "").replaceAll(/\/\d+/g, "/N");
  return `${call.method} ${path.replace(/(\/git\/refs\/heads\/).*/, "$1…") || "/"}`;
}

/** The account's owner gives the App these permissions. */
export async function permit({ github, repository }: EmbeddedWorld, permissions: Record<string, "read" | "write">): Promise<void> {
  const told = new Promise<number>((resolve) => {
    github.faults.webhook = ({ body }) => {
      const payload = JSON.parse(body) as { installation?: { id: number } };
      if (payload.installation !== undefined) resolve(payload.installation.id);
      return "deliver";
    };
  });
  await github.actAs("alice").push(repository, { branch: "permissions", files: { "docs/asked.md": "please\n" }, message: "asked for" });
  github.setPermissions(await told, permissions);
  github.expireTokens();
}
