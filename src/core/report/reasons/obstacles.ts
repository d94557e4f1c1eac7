/** Why GitHub does not merge a pull request, in our words; GitHub's own stand behind them as evidence. */
import { count } from "../../base/count.ts";
import type { MergeObstacle } from "../../reasons/gates.ts";

/** Of a ruleset that lists what it misses, a line is enough to be looked up. */
const LONGEST_QUOTE = 200;
/** `: the required check "ci" has not reported (GitHub: “…”)`, to stand behind who refuses what. */
export function obstaclePhrase({ obstacles, message }: { obstacles: readonly MergeObstacle[]; message: string }): string {
  // In brackets stands what the pull request showed.
  const words = message
    .replace(/ \[\w+\]$/, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  const cut = words.length > LONGEST_QUOTE ? `${words.slice(0, LONGEST_QUOTE)}…` : words;
  if (obstacles.length === 0) return cut === "" ? ", and does not say why" : ` and says: “${cut}”`;
  return `: ${obstacles.map(obstacle).join("; ")}${cut === "" ? "" : ` (GitHub: “${cut}”)`}`;
}

const CHECK = { silent: "has not reported yet", pending: "is not done yet", failed: "failed" } as const;

function obstacle(one: MergeObstacle): string {
  switch (one.kind) {
    case "check":
      return `the required check "${one.name}" ${CHECK[one.state]}`;
    case "checks":
      return `${one.some} of its ${one.of} required checks ${one.failed ? "failed" : "are not done yet"}`;
    case "reviews":
      return `it needs ${count(one.want, "approving review")}`;
    case "codeOwner":
      return one.who === undefined ? "a code owner has to approve it" : `${one.who} has to approve it, as code owner`;
    case "deployment":
      return `it has to be deployed first${one.environment === undefined ? "" : `, to ${one.environment}`}`;
    case "method":
      return `the repository does not take merges by ${one.method}`;
    case "state":
      return STATES[one.state] ?? `its state is ${one.state}`;
    default:
      return PLAIN[one.kind];
  }
}

const STATES: Readonly<Record<string, string>> = {
  blocked: "a rule of the base branch is not met",
  clean: "it shows nothing that stands against it",
  unstable: "a check that is not required has not passed",
};

type Plain = Exclude<MergeObstacle["kind"], "check" | "checks" | "reviews" | "codeOwner" | "deployment" | "method" | "state">;

const PLAIN: Readonly<Record<Plain, string>> = {
  lastPush: "somebody other than the last to push has to approve it",
  changesRequested: "a reviewer asked for changes",
  conversations: "a conversation on it is not resolved",
  behind: "its branch is behind the base branch",
  codeScanning: "code scanning wants a result of it",
  draft: "it is a draft: somebody has to mark it as ready for review",
  closed: "it is closed",
  conflict: "it conflicts with the base branch",
  gone: "it is gone, or the App may no longer see it",
  signatures: "its commits have to be signed",
  linear: "its branch must not contain merge commits",
  queue: "the base branch takes merges through its merge queue alone",
  pullRequest: "the base branch takes changes by pull requests alone",
  workflows: "it changes a workflow, and the App lacks the permission for that",
  permissions: "the App lacks a permission",
  protection: "the branch protection does not let the App push to the base branch",
  archive: "the repository is archived",
  locked: "the branch is locked",
  ruleset: "a ruleset does not let the App change the base branch",
};
