/**
 * Tells from GitHub's words why it does not merge a PR: it has no codes for that. What is told is data; the words themselves stay beside
 * it, as evidence. Called where GitHub's answer to a merge becomes a reason.
 */
import type { GitHubChange, MergeObstacle } from "../../reasons/gates.ts";

/** Nobody reads on. */
const MOST_OBSTACLES = 8;
/** A ruleset may name hundreds of checks. */
const LONGEST_READ = 4000;

type Found = (match: RegExpExecArray) => MergeObstacle;

const is =
  (kind: Exclude<MergeObstacle["kind"], "check" | "checks" | "reviews" | "codeOwner" | "deployment" | "method" | "state">): Found =>
  () => ({ kind });

/** Each kind of obstacle by the words that tell of it, in the order in which they are told. In brackets at the end: what the PR showed. */
const WORDS: readonly [RegExp, Found][] = [
  [/Required status check "([^"\n]{1,100})" is (expected|failing|failed|pending|in progress)/gi, (m) => check(m)],
  [/(\d{1,4}) of (\d{1,4}) required status checks (?:are|have) (\w+)/gi, (m) => counted(m)],
  [/At least (\d{1,2}) approving reviews? (?:is|are) required/gi, (m) => ({ kind: "reviews", want: Number(m[1]) })],
  [/Waiting on code owner review(?: from ([\w./@-]{1,100}\w))?/gi, (m) => ({ kind: "codeOwner", ...(m[1] && { who: m[1] }) })],
  [/approval from someone other than the last pusher/gi, is("lastPush")],
  [/changes (?:were|have been) requested|requested changes/gi, is("changesRequested")],
  [/conversations? must be resolved|unresolved conversation/gi, is("conversations")],
  [/out of date|must be up.to.date|\[behind\]$/gi, is("behind")],
  [/Missing successful active ([\w./ -]{1,100}?) ?deployment|required deployment|must be deployed/gi, (m) => deployment(m)],
  [/code scanning/gi, is("codeScanning")],
  [/in draft state|still a draft|\[draft\]$/gi, is("draft")],
  [/\[closed\]$/gi, is("closed")],
  [/merge conflict|can.?t be rebased|cannot be rebased/gi, is("conflict")],
  [/verified signature|must be signed/gi, is("signatures")],
  [/must not contain merge commits|linear history/gi, is("linear")],
  [/\b(Merge commits|Squash merges|Rebase merges) are not allowed/gi, (m) => method(m)],
  [/(?:through|by) (?:the|a) merge queue|merge queue is required/gi, is("queue")],
  [/must be made through a pull request/gi, is("pullRequest")],
  [/without .*workflows?.? permission/gi, is("workflows")],
  [/resource not accessible/gi, is("permissions")],
  [/not authorized to push|protected branch/gi, is("protection")],
  [/archived/gi, is("archive")],
  [/\block(?:ed|down)/gi, is("locked")],
  [/^Not Found/gi, is("gone")],
  [/\[(?!draft|closed|behind)(\w{1,20})\]$/g, (m) => ({ kind: "state", state: m[1] ?? "" })],
];

function check([, name = "", state = ""]: RegExpExecArray): MergeObstacle {
  const word = state.toLowerCase();
  return { kind: "check", name, state: word === "expected" ? "silent" : word.startsWith("fail") ? "failed" : "pending" };
}

function counted([, some = "", of = "", state = ""]: RegExpExecArray): MergeObstacle {
  return { kind: "checks", some: Number(some), of: Number(of), failed: /^fail/i.test(state) };
}

function deployment([, environment]: RegExpExecArray): MergeObstacle {
  return { kind: "deployment", ...(environment && { environment }) };
}

function method([, name = ""]: RegExpExecArray): MergeObstacle {
  const [word = ""] = name.toLowerCase().split(" ");
  return { kind: "method", method: word };
}

/** What stands against a merge by these words; none: they are not known here. */
export function obstaclesIn(message: string): MergeObstacle[] {
  const text = message.slice(0, LONGEST_READ);
  const found = WORDS.flatMap(([words, obstacle]) => [...text.matchAll(words)].map((match) => obstacle(match)));
  // A ruleset begins with these words, whatever it misses.
  if (found.length === 0 && /cannot update this protected ref/i.test(text)) found.push({ kind: "ruleset" });
  const once = new Map(found.map((one) => [JSON.stringify(one), one]));
  return [...once.values()].slice(0, MOST_OBSTACLES);
}

/** What a person has to change after a refusal that no waiting lifts. */
export function whatToChange(message: string): GitHubChange {
  const kinds = new Set(obstaclesIn(message).map(({ kind }) => kind));
  if (kinds.has("method")) return "mergeMethod";
  for (const kind of ["signatures", "workflows", "permissions"] as const) if (kinds.has(kind)) return kind;
  if (/rule violations? found/i.test(message)) return "ruleset";
  for (const kind of ["protection", "archive"] as const) if (kinds.has(kind)) return kind;
  return "named";
}
