import type { MergeOutcome } from "../port.ts";
import { answerOf, forgeError } from "./errors.ts";

/**
 * GitHub tells why it does not merge by words alone. Matched by class of message; the words themselves go on to people.
 * `NotMergeable` and `Unauthorized` say too little by themselves: the pull request, or the next try, tells more.
 */

const RETRIES = /base branch was modified|head branch was modified|merge (?:is )?already in progress|try the merge again\.?$/i;
const QUEUES = /merge queue/i;
const CONFLICTS = /merge conflict|can.?t be rebased|cannot be rebased/i;
const WAITS =
  /required status check|approving review|code owner|approval from someone other|is expected|conversations? must be resolved|unresolved conversation|waiting on|out of date|required deployment|must be deployed|is in progress|in draft state|still a draft/i;
const HUMANS =
  /not allowed|without .*workflows?.? permission|protected (?:branch|ref)|verified signature|must not contain|must be made through|resource not accessible|linear history|restricted|lock(?:ed|down)/i;

type Refusal = Exclude<MergeOutcome, { kind: "merged" }>;

/** Answered 405 with these words, GitHub has not said which of several things it is. */
export function isUnclear(message: string): boolean {
  return /^pull request is not mergeable\.?$/i.test(message.trim());
}

export function isUnauthorized(message: string): boolean {
  return /not authorized to push/i.test(message);
}

/** What to do about a refusal of status 405, 409 or 422, or of a GraphQL field. */
export function refusalByWords(message: string): Refusal {
  const [head = "", ...paragraphs] = message
    .split(/\n\s*\n/)
    .map((text) => text.trim())
    .filter((text) => text !== "");
  if (/rule violations? found/i.test(head)) return byRules(message, head, paragraphs);
  if (QUEUES.test(message)) return { kind: "queueOnly", message };
  if (CONFLICTS.test(message)) return { kind: "conflict", message };
  if (/out of date/i.test(message)) return { kind: "wait", message };
  if (RETRIES.test(message)) return { kind: "retry", message };
  if (HUMANS.test(message)) return { kind: "human", message };
  return { kind: "wait", message };
}

/** A ruleset lists what it misses, a paragraph a rule: waiting is right only where time alone can heal all of it. */
function byRules(message: string, head: string, paragraphs: readonly string[]): Refusal {
  const inline = head.replace(/^.*rule violations? found\.?:?/i, "").trim();
  const rules = [...(inline === "" ? [] : [inline]), ...paragraphs].filter((text) => !/^cannot update this protected ref\.?$/i.test(text));
  if (rules.some((text) => QUEUES.test(text))) return { kind: "queueOnly", message };
  const heals = rules.length > 0 && rules.every((text) => WAITS.test(text) && !/not allowed/i.test(text));
  return { kind: heals ? "wait" : "human", message };
}

/** The refusal in an error of a merge call. Rethrows, as ForgeError, what is no answer to the merge itself. */
export function refusalOf(error: unknown): Refusal {
  const answer = answerOf(error);
  const failure = forgeError(error);
  const message = answer === undefined ? failure.message : [answer.message, ...answer.details].join(": ");
  // No answer, or one of a server in trouble: whether it was done is seen by looking, and only then is it tried again.
  if (failure.kind === "RateLimited" || failure.kind === "Unavailable") return { kind: "retry", message };
  switch (answer?.status) {
    case 409:
      return /head branch was modified/i.test(message) ? { kind: "headMoved", message } : refusalByWords(message);
    case 405:
      return refusalByWords(message);
    case 403:
      // The whole repository stands still until it is taken out of the archive: no reason to pause this one run.
      if (/archived/i.test(message)) return { kind: "wait", message };
      return { kind: "human", message: failure.message };
    case 404:
      return { kind: "human", message };
    case 422:
      return { kind: "human", message };
    default:
      throw failure;
  }
}
