/**
 * Commands given through the API: each is checked against what the run offers and what its giver had in view, and written as their own comment
 * on GitHub. Nothing is done here: the inbox reads the comment, and it is judged as any other.
 *
 * Keeps true: one Idempotency-Key is one comment, also where we ended between writing it and answering, for it carries a mark of the key; what has
 * moved since it was seen is not written; a person's token lives as long as their request.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import type { CommentAsked, WrittenComment } from "../../../adapters/forge/github/comment-as.ts";
import { ForgeError } from "../../../adapters/forge/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { iso } from "../../../core/base/time.ts";
import { hasMoved } from "../../../core/report/model/has-moved.ts";
import { API_VERSION } from "../../../core/report/model/run-document.ts";
import type { RunDocument } from "../../../core/report/model/schema/run.ts";
import type { Action, ModelNode } from "../../../core/report/model/types.ts";
import { hasPermission, type Permission } from "../../../core/spec/commands.ts";
import type { CommandGiven, WebClock, WebSource } from "../source.ts";
import { type ProblemCode, problem } from "./answers.ts";
import { type CommandAsked, type CommandWritten, commandSchema } from "./documents.ts";
import type { LiveModels } from "./live-models.ts";
import { openCounter, openTurns } from "./turns.ts";
import { Denied, type Viewer } from "./viewers.ts";

const LARGEST_BODY = 8 * 1024;
const KEY = /^[\w-]{8,100}$/;
/** A key counts for so long, of the bot's clock. */
const KEPT_MS = 60 * 60_000;
const MOST_KEPT = 2_000;
/** Of one person in a minute. */
const MOST_COMMANDS = 20;
const MOST_AT_ONCE = 8;
const MOST_WAITING = 100;

/** What is answered instead of a comment. */
class Refused extends Error {
  readonly code: ProblemCode;
  constructor(code: ProblemCode, detail: string) {
    super(detail);
    this.code = code;
  }
}

interface Place {
  repository: string;
  rollout: string;
  number: number;
}

interface Given extends Place {
  viewer: Viewer;
  key: string;
  command: CommandAsked;
}

export const limitedBody = bodyLimit({ maxSize: LARGEST_BODY, onError: (context) => problem(context, "TOO_LARGE") });

export type Commands = ReturnType<typeof openCommands>;

export function openCommands(source: WebSource, clock: WebClock, models: LiveModels) {
  const known = new BoundedMap<string, { command: string; written: Promise<CommandWritten> }>(MOST_KEPT);
  const counter = openCounter(MOST_COMMANDS, () => performance.now());
  const inTurn = openTurns({ atOnce: MOST_AT_ONCE, waiting: MOST_WAITING, full: () => new Denied("UNAVAILABLE") });

  /** A second click, and whoever asks again as their line broke, get what the first one got. */
  function once(given: Given, login: string): Promise<CommandWritten> {
    const id = digest(login, given.repository.toLowerCase(), given.key);
    const command = JSON.stringify([given.rollout, given.number, given.command]);
    const before = known.get(id);
    if (before !== undefined && before.command !== command) throw new Refused("BAD_REQUEST", "this Idempotency-Key was another command's");
    if (before !== undefined) return before.written;
    if (!counter.count(login)) throw new Denied("TOO_MANY_REQUESTS");
    const written = inTurn(() => write(given, login, `<!-- stagecoach:given ${id} -->`));
    known.set(id, { command, written });
    written.catch(() => known.delete(id));
    return written;
  }

  async function write(given: Given, login: string, mark: string): Promise<CommandWritten> {
    const { commentAs } = source;
    const { repository, viewer } = given;
    const drawn = () => models.document(repository, given.rollout);
    const run = drawn();
    if (run === undefined || commentAs === undefined || viewer.person === undefined || given.number > run.number)
      throw new Denied("NOT_FOUND");
    const pull = given.command.pull ?? run.pull;
    if (pull === undefined) throw new Refused("REFUSED", "the run was started by a push, so it has no pull request to comment on");
    const asked: CommentAsked = { token: viewer.person.token(), login, repository: run.repository ?? repository, pull, mark };
    const there = await saidByGitHub(() => commentAs.find(asked, iso(clock.now() - KEPT_MS)));
    // What it did may have moved everything since.
    if (there !== undefined) return writtenOf(given, pull, there);
    const has = await viewer.permission?.(repository);
    // As it is now: GitHub may have taken its time.
    const command = checked(given, drawn() ?? run, has);
    const text = commentAs.textOf(command);
    if (text === undefined) throw new Refused("BAD_REQUEST", "that cannot be written as one command");
    return writtenOf(given, pull, await saidByGitHub(() => commentAs.write(asked, text)));
  }

  return async function give(context: Context, place: Place, viewer: Viewer): Promise<Response> {
    try {
      const { person } = viewer;
      if (person === undefined) throw new Denied("UNAUTHENTICATED");
      const key = context.req.header("Idempotency-Key") ?? "";
      if (!KEY.test(key)) throw new Refused("BAD_REQUEST", "an Idempotency-Key of 8 to 100 letters, digits, - and _ is wanted");
      const command = await commandIn(context);
      const written = await once({ ...place, viewer, key, command }, await person.login());
      context.header("Location", written.url);
      return context.json(written, 202);
    } catch (error) {
      if (error instanceof Refused && error.code === "UNAUTHENTICATED") viewer.person?.refused?.();
      if (error instanceof Refused) return problem(context, error.code, error.message);
      throw error;
    }
  };
}

async function commandIn(context: Context): Promise<CommandAsked> {
  if (!/^application\/json(?:;|$)/i.test(context.req.header("Content-Type") ?? "")) throw new Denied("NOT_JSON");
  const body: unknown = await context.req.json().catch(() => undefined);
  const read = commandSchema.safeParse(body);
  if (read.success) return read.data;
  throw new Refused("BAD_REQUEST", z.prettifyError(read.error).slice(0, 500));
}

/** The command, where everything is as whoever gives it saw it. */
function checked({ command, rollout, number }: Given, run: RunDocument, has: Permission | undefined): CommandGiven {
  const { verb, args, reason, seen, pull } = command;
  if (number !== run.number) throw new Refused("MOVED", `run ${run.number} is the last one now: ${run.says}`);
  if (hasMoved(verb, seen, run.seen))
    throw new Refused(
      "MOVED",
      [run.says, run.ask?.says]
        .filter(Boolean)
        .map((one) => one?.replace(/\.$/, ""))
        .join(". "),
    );
  const action = offered(run).find((one) => one.verb === verb && isDeepStrictEqual(one.args, args));
  if (action === undefined) throw new Refused("REFUSED", `${[`/${verb}`, ...args].join(" ")} is not offered of this run`);
  if (action.pull !== pull) throw new Refused("MOVED", run.says);
  if (!action.allowed) throw new Refused("REFUSED", action.whyNot?.says ?? "");
  if (has !== undefined && !hasPermission(has, action.needs))
    throw new Refused("FORBIDDEN", `/${verb} needs ${action.needs}, and you have ${has}`);
  return { verb, args, rollout, reason };
}

/** Of the run, and of what is below it. */
function offered({ actions, children }: Pick<ModelNode, "actions" | "children">): Action[] {
  return [...actions, ...children.flatMap(offered)];
}

function writtenOf({ repository, rollout, number }: Place, pull: number, { id, url, body }: WrittenComment): CommandWritten {
  const text = body.split("\n")[0] ?? "";
  return { apiVersion: API_VERSION, kind: "Command", repository, rollout, number, pull, comment: String(id), url, text };
}

const WORDS: Partial<Record<ForgeError["kind"], { code: ProblemCode; says: string }>> = {
  Unauthorized: { code: "UNAUTHENTICATED", says: "" },
  Forbidden: { code: "FORBIDDEN", says: "GitHub lets you write no comment there; a token needs Pull requests: write and Issues: write" },
  NotFound: { code: "FORBIDDEN", says: "GitHub shows you no such pull request, or your token may not write there" },
  RateLimited: { code: "TOO_MANY_REQUESTS", says: "GitHub takes no more of you just now" },
  Invalid: { code: "REFUSED", says: "GitHub did not take the comment" },
  Conflict: { code: "REFUSED", says: "GitHub did not take the comment" },
};

/** Its refusals in our words; GitHub's own may tell of what is not the reader's. */
async function saidByGitHub<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const words = error instanceof ForgeError ? WORDS[error.kind] : undefined;
    throw words === undefined
      ? new Refused("UNAVAILABLE", "GitHub did not answer; asked again with the same key, it is one comment")
      : new Refused(words.code, words.says);
  }
}

function digest(...parts: string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}
