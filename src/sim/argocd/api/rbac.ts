import { matchesGlob } from "../../../core/base/glob.ts";
import { grpcError } from "./answers.ts";

/** An account or project role of Argo CD, as its lines of argocd-rbac-cm say. */
export interface ApiAccount {
  name: string;
  /** `p, bot, applications, get, default/*, allow`; absent: may do everything. */
  policies?: readonly string[];
  expired?: boolean;
}

interface Policy {
  resource: string;
  action: string;
  object: string;
  effect: string;
}

function policyOf(line: string): Policy | undefined {
  const [kind, , resource, action, object, effect] = line.split(",").map((part) => part.trim());
  if (kind !== "p" || resource === undefined || action === undefined || object === undefined || effect === undefined) return undefined;
  return { resource, action, object, effect };
}

/** As Argo CD's policies match: `*` stands for any text, slashes too. */
export function glob(pattern: string, text: string): boolean {
  return matchesGlob(pattern, "gobwas", text);
}

/** A line that denies wins over those that allow. */
export function may({ policies }: ApiAccount, resource: string, action: string, object: string): boolean {
  if (policies === undefined) return true;
  let allowed = false;
  for (const line of policies) {
    const policy = policyOf(line);
    if (policy === undefined || !glob(policy.resource, resource) || !glob(policy.action, action) || !glob(policy.object, object)) continue;
    if (policy.effect === "deny") return false;
    allowed = true;
  }
  return allowed;
}

/** Throws 403 in Argo CD's words. */
export function enforce(account: ApiAccount, resource: string, action: string, object: string): void {
  if (!may(account, resource, action, object))
    throw grpcError(7, `permission denied: ${resource}, ${action}, ${object}, sub: ${account.name}, iat: 2026-01-01T00:00:00Z`);
}

/** Who asks, by the bearer token or Argo CD's cookie; throws 401 where nobody has it. */
export function authenticate(accounts: ReadonlyMap<string, ApiAccount>, header: string | undefined): ApiAccount {
  const token = /^Bearer\s+(\S+)$/i.exec(header ?? "")?.[1];
  if (token === undefined) throw grpcError(16, "no session information");
  const account = accounts.get(token);
  if (account === undefined) throw grpcError(16, "invalid session: token signature is invalid: signature is invalid");
  if (account.expired === true) throw grpcError(16, "invalid session: token has invalid claims: token is expired");
  return account;
}
