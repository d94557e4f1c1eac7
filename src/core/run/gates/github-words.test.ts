import { expect, test } from "vitest";
import { obstaclesIn, whatToChange } from "./github-words.ts";

const rules = (...paragraphs: string[]) => `Repository rule violations found\n\n${paragraphs.join("\n\n")}\n\n`;

test.each([
  ['Required status check "build" is expected.', [{ kind: "check", name: "build", state: "silent" }]],
  ['Required status check "build" is failing.', [{ kind: "check", name: "build", state: "failed" }]],
  ["3 of 4 required status checks are pending.", [{ kind: "checks", some: 3, of: 4, failed: false }]],
  ["1 of 4 required status checks have failed.", [{ kind: "checks", some: 1, of: 4, failed: true }]],
  ["At least 2 approving reviews are required by reviewers with write access.", [{ kind: "reviews", want: 2 }]],
  ["Waiting on code owner review from acme/sre.", [{ kind: "codeOwner", who: "acme/sre" }]],
  ["New changes require approval from someone other than the last pusher.", [{ kind: "lastPush" }]],
  ["A conversation must be resolved before this pull request can be merged.", [{ kind: "conversations" }]],
  ["Head branch is out of date. Review and try the merge again.", [{ kind: "behind" }]],
  ["Missing successful active production deployment.", [{ kind: "deployment", environment: "production" }]],
  ["Pull Request is still a draft", [{ kind: "draft" }]],
  ["Pull Request is not mergeable [closed]", [{ kind: "closed" }]],
  ["Pull Request is not mergeable [blocked]", [{ kind: "state", state: "blocked" }]],
  ["Pull Request has merge conflicts", [{ kind: "conflict" }]],
  ["Squash merges are not allowed on this repository.", [{ kind: "method", method: "squash" }]],
  ["Changes must be made through the merge queue", [{ kind: "queue" }]],
  ["Resource not accessible by integration", [{ kind: "permissions" }]],
  [rules("Cannot update this protected ref."), [{ kind: "ruleset" }]],
  [
    rules("Cannot update this protected ref.", 'Required status check "ci" is expected.', "Commits must have verified signatures."),
    [{ kind: "check", name: "ci", state: "silent" }, { kind: "signatures" }],
  ],
  [
    rules('Required status check "ci" is expected.', 'Required status check "ci" is expected.'),
    [{ kind: "check", name: "ci", state: "silent" }],
  ],
  ["Something that GitHub has never said before", []],
])("%j is told as data", (message, obstacles) => {
  expect(obstaclesIn(message)).toEqual(obstacles);
});

test.each([
  ["Merge commits are not allowed on this repository.", "mergeMethod"],
  [rules("Commits must have verified signatures."), "signatures"],
  ["refusing to allow a GitHub App to update workflow `x.yml` without `workflows` permission", "workflows"],
  ["Resource not accessible by integration", "permissions"],
  [rules("This branch must not contain merge commits."), "ruleset"],
  ["You're not authorized to push to this branch.", "protection"],
  ["Repository was archived so is read-only.", "archive"],
  ["Something that GitHub has never said before", "named"],
])("%j: what a person changes", (message, change) => {
  expect(whatToChange(message)).toBe(change);
});

test("words without an end are read in no time, and only the first obstacles are told", () => {
  const many = Array.from({ length: 5000 }, (_, at) => `Required status check "c${at}" is expected.`).join("\n\n");
  expect(obstaclesIn(rules(many))).toHaveLength(8);
});
