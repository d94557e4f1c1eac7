import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { isObject } from "./plain-schema.ts";

/** One request and its answer as @octokit/fixtures has recorded it: real traffic, with ids and times made plain. */
export interface RecordedStep {
  method: string;
  path: string;
  body: unknown;
  status: number;
  response: unknown;
  reqheaders: Record<string, string>;
  headers: Record<string, string>;
}

export function recordedScenario(name: string): RecordedStep[] {
  const root = createRequire(import.meta.url).resolve("@octokit/fixtures/package.json");
  return JSON.parse(readFileSync(new URL(`scenarios/api.github.com/${name}/normalized-fixture.json`, `file://${root}`), "utf8"));
}

/** What GitHub had when this was recorded and has no more, or what only some accounts have. */
const GONE = new Set([
  ...["has_downloads", "temp_clone_token", "use_squash_pr_title_as_default", "score", "allow_update_branch", "custom_properties"],
  ...["plan", "billing_email", "total_private_repos", "owned_private_repos", "private_gists", "disk_usage", "collaborators"],
]);

/** What the embedded one does not keep: who alone may dismiss a review. */
const NOT_KEPT = new Set(["dismissal_restrictions"]);

/** Paths that the recording has and the answer lacks, or has with another type. Lists are compared by their first items. */
export function shapeDifferences(recorded: unknown, answer: unknown, path = ""): string[] {
  if (recorded === null || answer === null) return [];
  if (Array.isArray(recorded)) {
    if (!Array.isArray(answer)) return [`${path}: a list`];
    return recorded.length === 0 || answer.length === 0 ? [] : shapeDifferences(recorded[0], answer[0], `${path}[]`);
  }
  if (!isObject(recorded)) return typeof recorded === typeof answer ? [] : [`${path}: ${typeof recorded}, not ${typeof answer}`];
  if (!isObject(answer)) return [`${path}: an object`];
  return Object.entries(recorded).flatMap(([key, value]) => {
    if (GONE.has(key) || NOT_KEPT.has(key)) return [];
    return key in answer ? shapeDifferences(value, answer[key], `${path}.${key}`) : [`${path}.${key} is missing`];
  });
}
