import type { Route } from "../http/router.ts";
import { APP_ROUTES } from "./apps.ts";
import { CHECK_ROUTES } from "./checks.ts";
import { CONTENT_ROUTES } from "./contents.ts";
import { DEPLOYMENT_ROUTES } from "./deployments.ts";
import { GIT_ROUTES } from "./git-data.ts";
import { GRAPHQL_ROUTES } from "./graphql.ts";
import { ISSUE_ROUTES } from "./issues.ts";
import { META_ROUTES } from "./meta.ts";
import { ORG_ROUTES } from "./orgs.ts";
import { PULL_ROUTES } from "./pulls.ts";
import { REPO_ROUTES } from "./repos.ts";
import { RULE_ROUTES } from "./rules.ts";
import { STATUS_ROUTES } from "./statuses.ts";

/** First match wins. */
export const ROUTES: readonly Route[] = [
  ...META_ROUTES,
  ...APP_ROUTES,
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
  ...REPO_ROUTES,
];
