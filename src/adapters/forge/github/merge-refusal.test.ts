import { describe, expect, it } from "vitest";
import { ForgeError } from "../port.ts";
import { isUnauthorized, isUnclear, refusalByWords, refusalOf } from "./merge-refusal.ts";

const rules = (...paragraphs: string[]) => `Repository rule violations found\n\n${paragraphs.join("\n\n")}\n\n`;

/** As Octokit rejects. */
function refused(status: number, message: string, headers: Record<string, string> = {}) {
  return Object.assign(new Error(message), { status, response: { status, headers, data: { message } } });
}

describe("what GitHub says when it does not merge", () => {
  it.each([
    ["Base branch was modified. Review and try the merge again.", "retry"],
    ["Merge already in progress", "retry"],
    ["Pull Request has merge conflicts", "conflict"],
    ["This branch can't be rebased", "conflict"],
    ["Merge commits are not allowed on this repository.", "human"],
    ["Squash merges are not allowed on this repository.", "human"],
    ["Rebase merges are not allowed on this repository.", "human"],
    ['Required status check "build" is expected.', "wait"],
    ['Required status check "build" is failing.', "wait"],
    ["3 of 4 required status checks are pending.", "wait"],
    ["At least 1 approving review is required by reviewers with write access.", "wait"],
    ["Waiting on code owner review from acme/sre.", "wait"],
    ["Missing successful active production deployment.", "wait"],
    ["New changes require approval from someone other than the last pusher.", "wait"],
    ["Head branch is out of date. Review and try the merge again.", "wait"],
    ["A conversation must be resolved before this pull request can be merged.", "wait"],
    ["Changes must be made through the merge queue", "queueOnly"],
    ["The merge queue is required for this branch", "queueOnly"],
    [rules('Required status check "ci" is expected.'), "wait"],
    [rules("At least 1 approving review is required.", 'Required status check "ci" is expected.'), "wait"],
    [rules("Cannot update this protected ref.", "Waiting on code owner review from acme/sre."), "wait"],
    [rules("Commits must have verified signatures."), "human"],
    [rules('Required status check "ci" is expected.', "Commits must have verified signatures."), "human"],
    [rules("This branch must not contain merge commits."), "human"],
    [rules("Merge commits are not allowed on this branch."), "human"],
    [rules("Changes must be made through the merge queue"), "queueOnly"],
    [rules("Cannot update this protected ref."), "human"],
    ["Repository rule violations found: Changes must be made through a pull request.", "human"],
    ["Something that GitHub has never said before", "wait"],
  ])("%j: %s", (message, kind) => {
    expect(refusalByWords(message)).toEqual({ kind, message });
  });

  it.each([
    [409, "Head branch was modified. Review and try the merge again.", "headMoved"],
    [409, "Base branch was modified. Review and try the merge again.", "retry"],
    [403, "Repository was archived so is read-only.", "wait"],
    [403, "Resource not accessible by integration", "human"],
    [403, "refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` permission", "human"],
    [404, "Not Found", "human"],
    [422, "sha was not a valid SHA.", "human"],
    [500, "Server Error", "retry"],
    [502, "Bad gateway", "retry"],
    [503, "Unavailable", "retry"],
    [429, "Too many requests", "retry"],
  ])("%i %j: %s", (status, message, kind) => {
    expect(refusalOf(refused(status, message)).kind).toBe(kind);
  });

  it("a limit is tried again, whatever its status", () => {
    expect(refusalOf(refused(403, "You have exceeded a secondary rate limit.", { "retry-after": "60" })).kind).toBe("retry");
    expect(refusalOf(refused(403, "API rate limit exceeded", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1" })).kind).toBe(
      "retry",
    );
  });

  it("no answer at all is tried again once the PR was looked at", () => {
    expect(refusalOf(new TypeError("fetch failed")).kind).toBe("retry");
  });

  it("a token that is no good is no answer to the merge", () => {
    expect(() => refusalOf(refused(401, "Bad credentials"))).toThrow(ForgeError);
  });

  it("what says too little by itself is told apart", () => {
    expect([isUnclear("Pull Request is not mergeable"), isUnclear("Pull Request has merge conflicts")]).toEqual([true, false]);
    expect(isUnauthorized("You're not authorized to push to this branch. Visit https://docs.github.com for more.")).toBe(true);
  });

  it("keeps GitHub's words for people, without tokens", () => {
    const message = `${rules("Commits must have verified signatures.")} ghs_123456_eyJhbGciOi.J9.x_y-z`;
    const outcome = refusalOf(refused(405, message));
    expect(outcome.message).toContain("Commits must have verified signatures.");
    expect(outcome.message).not.toContain("eyJhbGciOi");
  });
});
