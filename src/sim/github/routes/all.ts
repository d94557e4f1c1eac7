import { runGraphQL } from "../graphql/endpoint.ts";
import { ApiFailure } from "../http/failure.ts";
import type { Route } from "../http/router.ts";
import { APPLICATION_ROUTES } from "./applications.ts";
import { APP_ROUTES } from "./apps.ts";
import { CHECK_ROUTES } from "./checks.ts";
import { COLLABORATOR_ROUTES } from "./collaborators.ts";
import { COMMIT_ROUTES } from "./commits.ts";
import { CONTENT_ROUTES } from "./contents.ts";
import { DEPLOYMENT_ROUTES } from "./deployments.ts";
import { GIT_ROUTES } from "./git-data.ts";
import { ISSUE_ROUTES } from "./issues.ts";
import { META_ROUTES } from "./meta.ts";
import { ORG_ROUTES } from "./orgs.ts";
import { PULL_ROUTES } from "./pulls.ts";
import { REPO_ROUTES } from "./repos.ts";
import { RULE_ROUTES } from "./rules.ts";
import { STATUS_ROUTES } from "./statuses.ts";

/** github.com has it at /graphql, an Enterprise Server at /api/graphql. Errors of fields answer 200. */
const GRAPHQL_ROUTES: readonly Route[] = ["/graphql", "/api/graphql"].map((path) => ({
  method: "POST",
  path,
  async handle(call) {
    if (call.actor.kind === "anonymous") throw new ApiFailure(401, "This endpoint requires you to be authenticated.");
    if (call.actor.kind === "app") throw new ApiFailure(403, "Resource not accessible by integration");
    return { status: 200, body: await runGraphQL(call.world, call.actor, call.body) };
  },
}));

/** All routes of the API; the first match wins. */
export const ROUTES: readonly Route[] = [
  ...META_ROUTES,
  ...APP_ROUTES,
  ...APPLICATION_ROUTES,
  ...GRAPHQL_ROUTES,
  ...PULL_ROUTES,
  ...ISSUE_ROUTES,
  ...GIT_ROUTES,
  ...CONTENT_ROUTES,
  ...CHECK_ROUTES,
  ...STATUS_ROUTES,
  ...DEPLOYMENT_ROUTES,
  ...ORG_ROUTES,
  ...RULE_ROUTES,
  ...COLLABORATOR_ROUTES,
  ...COMMIT_ROUTES,
  ...REPO_ROUTES,
];
