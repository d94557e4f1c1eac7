import { defined } from "../../../core/base/defined.ts";
import { ApiFailure } from "../http/failure.ts";
import { type Answer, ok, type RepoCall, texts } from "../http/router.ts";
import type { Protection } from "../model/model.ts";
import { teamOf } from "../model/world.ts";
import { UNPROTECTED } from "../rules/rules.ts";
import { teamShape } from "../shapes/organization.ts";
import { repoUrl } from "../shapes/repo.ts";
import { appShape, userShape } from "../shapes/user.ts";

function part(body: Record<string, unknown>, name: string): Record<string, unknown> | undefined {
  const value = body[name];
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}

/** Sets the whole of it: what is null is off. */
export function protect(call: RepoCall): Answer {
  const checks = part(call.body, "required_status_checks");
  const reviews = part(call.body, "required_pull_request_reviews");
  const restrictions = part(call.body, "restrictions");
  const rules: Protection = defined({
    ...UNPROTECTED,
    requiredChecks: texts(checks?.["contexts"]),
    strict: checks?.["strict"] === true,
    approvals: reviews === undefined ? 0 : Number(reviews["required_approving_review_count"] ?? 1),
    codeOwners: reviews?.["require_code_owner_reviews"] === true,
    dismissStale: reviews?.["dismiss_stale_reviews"] === true,
    lastPushApproval: reviews?.["require_last_push_approval"] === true,
    admins: call.body["enforce_admins"] === true,
    pushers: restrictions === undefined ? undefined : ["users", "teams", "apps"].flatMap((kind) => texts(restrictions[kind])),
  });
  call.repo.protections.set(call.params["branch"] ?? "", rules);
  return ok(protectionShape(call));
}

/** Classic protection is for administrators alone. */
export function protectionShape(call: RepoCall) {
  const branch = call.params["branch"] ?? "";
  const rules = call.repo.protections.get(branch);
  if (rules === undefined) throw new ApiFailure(404, "Branch not protected");
  const url = `${repoUrl(call.world, call.repo)}/branches/${branch}/protection`;
  const contexts = rules.requiredChecks;
  const off = { enabled: false };
  return defined({
    url,
    required_status_checks:
      contexts.length === 0 && !rules.strict
        ? undefined
        : {
            url: `${url}/required_status_checks`,
            strict: rules.strict,
            contexts,
            contexts_url: `${url}/required_status_checks/contexts`,
            checks: contexts.map((context) => ({ context, app_id: null })),
          },
    required_pull_request_reviews:
      rules.approvals === 0
        ? undefined
        : {
            url: `${url}/required_pull_request_reviews`,
            dismiss_stale_reviews: rules.dismissStale,
            require_code_owner_reviews: rules.codeOwners,
            require_last_push_approval: rules.lastPushApproval,
            required_approving_review_count: rules.approvals,
          },
    restrictions: rules.pushers === undefined ? undefined : restrictionsShape(call, url, rules.pushers),
    required_signatures: { url: `${url}/required_signatures`, enabled: rules.signatures },
    enforce_admins: { url: `${url}/enforce_admins`, enabled: rules.admins },
    required_linear_history: off,
    allow_force_pushes: off,
    allow_deletions: off,
    block_creations: off,
    required_conversation_resolution: off,
    lock_branch: off,
    allow_fork_syncing: off,
  });
}

/** Logins and slugs that may push, sorted into people, teams and Apps. */
function restrictionsShape(call: RepoCall, protection: string, names: readonly string[]) {
  const { world, repo } = call;
  const url = `${protection}/restrictions`;
  const apps = [...world.apps.values()].filter((app) => names.includes(app.slug));
  return {
    url,
    users_url: `${url}/users`,
    teams_url: `${url}/teams`,
    apps_url: `${url}/apps`,
    users: names.flatMap((name) => {
      const user = world.users.get(name.toLowerCase());
      return user === undefined ? [] : [userShape(world, user)];
    }),
    teams: names.flatMap((name) => {
      const team = teamOf(world, repo.owner, name);
      return team === undefined ? [] : [teamShape(world, team)];
    }),
    apps: apps.map((app) => appShape(world, app)),
  };
}
