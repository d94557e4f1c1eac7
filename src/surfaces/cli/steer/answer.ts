/** The bot's answer to a command that was commented: its reaction, and its words. Called by `post-command.ts`. */
import { setTimeout } from "node:timers/promises";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import type { JournalSource } from "../journal/source.ts";
import { asking, type GitHubPlace } from "./github-place.ts";

/** What became of a command. `posted`: nobody waited for more. */
export interface Outcome {
  outcome: "done" | "refused" | "posted" | "waiting";
  message: string;
  /** To a question: what the bot wrote, as Markdown. */
  answer?: string | undefined;
}

/** A command that stands on GitHub. */
export interface Posted {
  rollout: string;
  run: number;
  pull: number;
  /** Id of the comment. */
  comment: number;
  url: string;
  text: string;
  /** The App whose journal it is: its reactions count, and nobody else's. */
  bot: string;
}

/** How often it is asked, by how long was waited already: an answer mostly comes within seconds. */
const POLLS: readonly { afterMs: number; everyMs: number }[] = [
  { afterMs: 20_000, everyMs: 5_000 },
  { afterMs: 4_000, everyMs: 1_000 },
  { afterMs: 0, everyMs: 300 },
];

/** Waits for 🚀 or 😕 of the bot on the comment, and says what the journal has of it. `sleep`: between two looks. */
export async function awaitAnswer(
  place: GitHubPlace,
  source: JournalSource,
  posted: Posted,
  withinMs: number,
  sleep: (ms: number) => Promise<void> = setTimeout,
): Promise<Outcome> {
  const began = performance.now();
  let seen = false;
  for (;;) {
    const reactions = await botReactions(place, posted);
    // Several commands of the comment may differ; ours is the only one.
    if (reactions.has("confused")) return { outcome: "refused", message: await messageOf(place, source, posted) };
    const waited = performance.now() - began;
    if (reactions.has("rocket")) {
      const question = /^\/(?:status|plan|help)\b/.exec(posted.text)?.[0].slice(1);
      const answer = question === undefined ? undefined : await answerTo(place, posted, question);
      // The mark may be there a little before the answer is.
      if (question === undefined || answer !== undefined || waited >= withinMs)
        return { outcome: "done", message: question === undefined ? await messageOf(place, source, posted) : "", answer };
    }
    seen ||= reactions.has("eyes");
    if (waited >= withinMs) {
      const message = seen
        ? "Stagecoach has read it and cannot do it yet: the answer will be on the comment"
        : "Stagecoach has not read it yet, and may not be running: the comment stays, and counts for 15 minutes";
      return { outcome: "waiting", message };
    }
    const every = POLLS.find(({ afterMs }) => waited >= afterMs)?.everyMs ?? 1_000;
    await sleep(Math.min(every, withinMs - waited + 1));
  }
}

async function botReactions({ octokit, owner, repo }: GitHubPlace, { comment, bot }: Posted): Promise<Set<string>> {
  const { data } = await asking("read the reactions to the comment", () =>
    octokit.rest.reactions.listForIssueComment({ owner, repo, comment_id: comment, per_page: 100 }),
  );
  return new Set(data.filter((reaction) => reaction.user?.login === bot).map((reaction) => reaction.content));
}

/** The answer in words: of the journal, or where it never got there, of the bot's comment of refusals. */
async function messageOf(place: GitHubPlace, source: JournalSource, posted: Posted): Promise<string> {
  // Where the journal cannot be fetched the reaction has said the main thing.
  await source.fetch().catch(() => undefined);
  const run = await source.run(posted.rollout, posted.run);
  const handled = run?.commands.find((command) => command.id === `${posted.comment}#0`);
  return handled === undefined ? ((await refusalOf(place, posted)) ?? "") : sentenceOf(handled.message, run);
}

/** The comment of the bot's that answers a question; it is one for all of the same kind and rollout, and names the newest that it answers. */
async function answerTo(place: GitHubPlace, posted: Posted, question: string): Promise<string | undefined> {
  const marker = question === "help" ? "stagecoach:help" : `stagecoach:${question}:${posted.rollout}`;
  for (const { user, body = "" } of await commentsOn(place, posted.pull)) {
    if (user?.login !== posted.bot || !body.startsWith(`<!-- ${marker} -->`)) continue;
    const newest = /<!-- answers (\d{1,16}) -->$/.exec(body)?.[1];
    if (question === "help" || (newest !== undefined && Number(newest) >= posted.comment)) return body.replace(/<!--[^>]*-->/g, "").trim();
  }
  return undefined;
}

async function commentsOn({ octokit, owner, repo }: GitHubPlace, pull: number) {
  return await asking("read the answer", () =>
    octokit.paginate(octokit.rest.issues.listComments, { owner, repo, issue_number: pull, per_page: 100 }),
  );
}

async function refusalOf(place: GitHubPlace, { pull, bot, text, comment }: Posted): Promise<string | undefined> {
  const comments = await commentsOn(place, pull);
  // Below the comment; or, of whoever wrote many, in the one that the others share.
  const answers = [`<!-- stagecoach:answer:${comment} -->`, "<!-- stagecoach:answer -->"];
  const found = answers.map((marker) => comments.find((one) => one.user?.login === bot && one.body?.startsWith(marker) === true)?.body);
  const mine = (found[0] ?? found[1] ?? "").split(/^> /m).find((part) => part.startsWith("`") && part.includes(text));
  return mine
    ?.split("\n")
    .find((line) => line.startsWith("@"))
    ?.replace(/^@\S+: /, "")
    .replaceAll(/\\([\\`*_{}[\]<>|#~&])/g, "$1");
}
