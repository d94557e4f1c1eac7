import { count } from "../../base/count.ts";
import { epoch, iso, type Time } from "../../base/time.ts";
import type { Next } from "../state/run.ts";
import type { ObservedPull, PullNeed } from "../state/world.ts";

/** A required check that has said nothing for so long is probably never run for such a PR. */
export const SILENT_MS = 10 * 60_000;
const MOST_NAMED = 5;

export interface Wanted {
  /** `the required check "ci" has not reported yet`, several joined. */
  why: string;
  next: Next;
  /** When the answer changes though nothing happens. */
  changesAt?: number;
}

type Check = Extract<PullNeed, { kind: "check" }>;

export function checksOf(needs: readonly PullNeed[]): Check[] {
  return needs.filter((need) => need.kind === "check");
}

/** What the base branch's rules still want of a PR, as a sentence, and what somebody has to do about it. */
export function wanted(needs: readonly PullNeed[], openedAt: Time, now: number): Wanted {
  const checks = checksOf(needs);
  const silent = checks.filter((check) => check.state === "silent");
  const due = epoch(openedAt) + SILENT_MS;
  const mute = silent.length > 0 && now >= due;
  const parts = [
    said(checks, "failed", "failed"),
    mute ? `${named(silent)} has not reported in 10 minutes` : said(checks, "silent", "has not reported yet"),
    said(checks, "pending", "is not done yet"),
    ...needs.flatMap((need) => (need.kind === "check" ? [] : [sentence(need)])),
  ].filter((part) => part !== "");
  const next = mute ? { what: whatToDoAboutSilence(silent) } : nextOf(needs, checks);
  return { why: parts.join("; "), next, ...(silent.length > 0 && !mute ? { changesAt: due } : {}) };
}

function said(checks: readonly Check[], state: Check["state"], words: string): string {
  const some = checks.filter((check) => check.state === state);
  return some.length === 0 ? "" : `${named(some)} ${words}`;
}

function named(checks: readonly Check[]): string {
  const names = checks.slice(0, MOST_NAMED).map((check) => `"${check.name.slice(0, 100)}"`);
  const more = checks.length > MOST_NAMED ? ` and ${checks.length - MOST_NAMED} more` : "";
  return `the required ${checks.length === 1 ? "check" : "checks"} ${names.join(", ")}${more}`;
}

function whatToDoAboutSilence(silent: readonly Check[]): string {
  const [first] = silent;
  return `a person makes "${first?.name.slice(0, 100) ?? ""}" report on this pull request (a workflow with a paths filter reports nothing for other paths), or takes it out of the required checks`;
}

function nextOf(needs: readonly PullNeed[], checks: readonly Check[]): Next {
  if (checks.some((check) => check.state === "failed")) return { what: "it is run again and passes, or `/abort` ends the run" };
  if (checks.length > 0) return { what: "its required checks are done" };
  if (needs.some((need) => need.kind === "signatures" || need.kind === "method"))
    return { what: "a person changes the rule, or lets the App bypass it" };
  return { what: "it is reviewed, or the App is let bypass the rule" };
}

function sentence(need: Exclude<PullNeed, Check>): string {
  switch (need.kind) {
    case "reviews":
      return `it has ${need.have} of ${count(need.want, "approving review")} that count (an App's never does)`;
    case "changesRequested":
      return `${need.by
        .slice(0, MOST_NAMED)
        .map((login) => `@${login}`)
        .join(", ")} asked for changes`;
    case "codeOwners":
      return "a code owner of the files it changes has not approved";
    case "lastPush":
      return "somebody other than who pushed last has to approve";
    case "signatures":
      return "the base branch takes signed commits only, and its commit is not signed";
    case "method":
      return `the base branch does not take merges by ${need.method}${need.allowed.length === 0 ? "" : `, only by ${need.allowed.join(" or ")}`}`;
  }
}

/** What a refusal was said of: another head, another answer of GitHub, another thing missing make it worth asking again. */
export function refusalKey(pull: ObservedPull): string {
  return JSON.stringify([pull.head, pull.mergeable, pull.needs ?? null, pull.gate ?? null]);
}

/** GitHub's words name a required check that never reported where its rules cannot be read (classic branch protection). */
export function silentIn(message: string, openedAt: Time, now: number): string | undefined {
  const name = /Required status check "([^"]{1,100})" is expected/i.exec(message)?.[1];
  return name === undefined || now < epoch(openedAt) + SILENT_MS
    ? undefined
    : whatToDoAboutSilence([{ kind: "check", name, state: "silent" }]);
}

const CHANGES: readonly [RegExp, string][] = [
  [
    /(merge commits|squash merges|rebase merges|merges?) (are|is) not allowed|merge method/i,
    "allow that way of merging in the repository's settings, or set `delivery.method` to one that is allowed",
  ],
  [/signature|signed/i, "have the App's commits signed, or make the App a bypass actor of that rule"],
  [/workflows.? permission/i, "give the App the permission `workflows: write`, or take the workflow files out of what the rollout changes"],
  [/not accessible by integration|without .* permission/i, "give the App `contents: write` and `pull_requests: write` on this repository"],
  [/rule violations? found/i, "have the ruleset's rules met, or make the App a bypass actor of it (Settings, Rules)"],
  [/not authorized to push|protected branch/i, "let the App push to the base branch in its protection rule"],
  [/archived/i, "take the repository out of the archive"],
];

/** What a person has to change after a refusal that no waiting lifts. */
export function whatToChange(message: string): string {
  const known = CHANGES.find(([pattern]) => pattern.test(message));
  return known?.[1] ?? "change what it names";
}

/** The moment at which a refusal that only needs time is put to GitHub again. */
export function askAgainAt(refused: { at: Time }): Time {
  return iso(epoch(refused.at) + SILENT_MS);
}
