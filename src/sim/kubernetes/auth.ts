import { ApiError } from "./api-error.ts";
import type { Resource } from "./types.ts";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";

/** As in a Role: what is not allowed by a rule is forbidden. `*` stands for all. */
export interface Rule {
  apiGroups?: string[];
  resources: string[];
  verbs: (Verb | "*")[];
  /** Absent: in every namespace. */
  namespaces?: string[];
  resourceNames?: string[];
}

export interface Account {
  user: string;
  /** Absent: may do everything. */
  rules?: Rule[];
}

interface Attempt {
  verb: Verb;
  resource: Resource;
  namespace: string | undefined;
  name: string | undefined;
}

const holds = (list: readonly string[] | undefined, value: string) => list === undefined || list.includes("*") || list.includes(value);

function allows(rule: Rule, { verb, resource, namespace, name }: Attempt): boolean {
  if (!holds(rule.apiGroups, resource.group) || !holds(rule.resources, resource.plural) || !holds(rule.verbs, verb)) return false;
  if (rule.namespaces !== undefined && (namespace === undefined || !rule.namespaces.includes(namespace))) return false;
  return rule.resourceNames === undefined || (name !== undefined && rule.resourceNames.includes(name));
}

/** Who asks, by the bearer token; throws 401 where nobody has it. */
export function authenticate(accounts: ReadonlyMap<string, Account>, header: string | undefined): Account {
  const token = /^Bearer\s+(\S+)$/i.exec(header ?? "")?.[1];
  const account = token === undefined ? undefined : accounts.get(token);
  if (account === undefined) throw new ApiError(401, "Unauthorized", "Unauthorized");
  return account;
}

/** Throws 403 in the API server's words where no rule allows it. */
export function authorize(account: Account, attempt: Attempt): void {
  if (account.rules === undefined || account.rules.some((rule) => allows(rule, attempt))) return;
  const { verb, resource, namespace, name } = attempt;
  const subject = name === undefined ? resource.plural : `${resource.plural} "${name}"`;
  const scope = namespace === undefined ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const full = resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
  throw new ApiError(
    403,
    "Forbidden",
    `${full} is forbidden: User "${account.user}" cannot ${verb} resource "${resource.plural}" in API group "${resource.group}" ${scope}`,
    { kind: subject },
  );
}
