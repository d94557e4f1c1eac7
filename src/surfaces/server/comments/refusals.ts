/**
 * The answers below refused commands keep, over restarts and replicas, what was refused for good. Called by `answers.ts`.
 *
 * Each comment has an answer of its own, edited in place, found again by the comment's key in its marker. Whoever writes more than a
 * few gets no more of them: the others of a PR share one, so that nobody can have us write comments without end.
 */
import { type Comment, type Forge, ForgeError } from "../../../adapters/forge/port.ts";
import { refusalAnswer } from "../../../core/report/answers.ts";
import type { Log } from "../../../engine/round/context.ts";

/** A line of a comment, and who wrote it. */
export interface WrittenLine {
  pull: number;
  /** See `keyOf`: `123456` of a comment, `r123456` of a review. */
  comment: string;
  author: string;
  /** As written, one line. */
  text: string;
  /** `123456#0`, of a command: refused, it is never judged again. Absent: whoever refuses it remembers that, or it is no refusal. */
  command?: string;
}

export interface Refusal extends WrittenLine {
  message: string;
  /** False: it is noted only, and shown where nothing else is. */
  shown: boolean;
}

const MARKER = "stagecoach:answer";
const MARKED = /^<!-- stagecoach:answer(?::(r?\d{1,16}))? -->/;
/** Answers of their own on one PR: of one account, and of all. */
const MOST_OF_ONE = 10;
const MOST_OF_ALL = 50;
/** Of refusals shown together. */
const MOST_SHOWN = 12;
/** Of refused commands held, the newest; of a comment's 65,536 characters. */
const MOST_HELD = 500;
const LONGEST_SHOWN = 50_000;
/** Of answers: what is forgotten stands in them, and is taken in again with their PR's comments. */
const MOST_PAGES = 1_000;
const HELD_FROM = "\n<!-- refused:";
const HELD = /^\n<!-- refused:((?: r?\d{1,16}#\d{1,2})*) -->$/;

interface Shown {
  /** The newest that lines are from. */
  comment: string;
  lines: Map<string, { author: string; message: string }>;
  written: boolean;
}

/** One answer of ours. */
interface Page {
  pull: number;
  /** The comment it answers; undefined: the one that the others share. */
  of: string | undefined;
  /** Whose comment it answers, as far as that is known. */
  author: string | undefined;
  shown: Shown | undefined;
  refused: Set<string>;
  /** What was held in it when it was read last. */
  held: string;
  /** How often something was added. */
  version: number;
}

/**
 * The answers below what was refused on a PR: each shows why, and holds, unseen, which commands were refused. So they stay refused for
 * whoever reads the PR after us; until it is written, nobody was told anything.
 */
export class RefusalComments {
  readonly #forge: Forge;
  readonly #log: Log;
  readonly #pages = new Map<string, Page>();
  readonly #unwritten = new Set<string>();

  constructor(forge: Forge, log: Log) {
    this.#forge = forge;
    this.#log = log;
  }

  /** Takes in what was refused before us, from a PR's comments. */
  recall(pull: number, comments: readonly Comment[]): void {
    for (const comment of comments) {
      const marked = comment.ours ? MARKED.exec(comment.body) : null;
      if (marked === null) continue;
      const answered = comments.find((one) => keyOf(one) === marked[1]);
      takeIn(this.#pageOf(pull, marked[1], answered?.author), comment);
    }
  }

  has(pull: number, command: string): boolean {
    const own = this.#pages.get(pageKey(pull, command.slice(0, command.indexOf("#"))));
    return own?.refused.has(command) === true || this.#pages.get(pageKey(pull, undefined))?.refused.has(command) === true;
  }

  /** Whether the comment's own answer, written here or by an earlier process, refuses none of it. */
  isNotice(pull: number, comment: string): boolean {
    return this.#pages.get(pageKey(pull, comment))?.refused.size === 0;
  }

  /** Shown and held from the next `write` on. */
  add(refusal: Refusal): void {
    const page = this.#pageFor(refusal);
    page.version += 1;
    if (refusal.command !== undefined) hold(page, [refusal.command]);
    if (refusal.shown || page.shown === undefined) show(page, refusal);
    this.#unwritten.add(pageKey(page.pull, page.of));
  }

  /** Something was added and is not written yet. */
  isUnwritten(): boolean {
    return this.#unwritten.size > 0;
  }

  /** Writes what was added. Gives the PRs where something could not be written: there it is tried again the next time. */
  async write(): Promise<ReadonlySet<number>> {
    const failed = new Set<number>();
    const there = new Map<number, Promise<Comment[]>>();
    const read = (pull: number) => {
      const comments = there.get(pull) ?? this.#forge.comments(pull);
      there.set(pull, comments);
      return comments;
    };
    // In the order of what they answer.
    for (const key of [...this.#unwritten].sort((a, b) => a.localeCompare(b, "en", { numeric: true }))) {
      const page = this.#pages.get(key);
      if (page !== undefined && !(await this.#writeOne(key, page, read))) failed.add(page.pull);
    }
    return failed;
  }

  /** Takes in first what stands there: another replica may have refused something since. False: to be tried again. */
  async #writeOne(key: string, page: Page, read: (pull: number) => Promise<Comment[]>): Promise<boolean> {
    const { pull, of, version } = page;
    try {
      takeIn(
        page,
        (await read(pull)).find((comment) => isPage(comment, of)),
      );
      holdNewest(page);
      await this.#forge.stickyComment(pull, of === undefined ? MARKER : `${MARKER}:${of}`, bodyOf(page));
    } catch (error) {
      this.#log.warn({ pull, error: String(error) }, "the answer to what was refused could not be written");
      // Deleted or locked meanwhile: it will not be written later, either.
      const never = error instanceof ForgeError && ["NotFound", "Forbidden", "Invalid"].includes(error.kind);
      if (never) this.#unwritten.delete(key);
      return never;
    }
    // What was added while it was on its way is still to be written.
    if (page.version !== version) return true;
    if (page.shown !== undefined) page.shown.written = true;
    this.#unwritten.delete(key);
    return true;
  }

  /** Its own, while there are few of its account and on its PR. */
  #pageFor({ pull, comment, author, shown }: Refusal): Page {
    if (this.#pages.has(pageKey(pull, comment))) return this.#pageOf(pull, comment);
    const own = shown ? [...this.#pages.values()].filter((page) => page.pull === pull && page.of !== undefined) : [];
    const isFree = own.length < MOST_OF_ALL && own.filter((page) => page.author === author).length < MOST_OF_ONE;
    return this.#pageOf(pull, shown && isFree ? comment : undefined, author);
  }

  /** Those used last are kept, and those that wait to be written. */
  #pageOf(pull: number, of: string | undefined, author?: string): Page {
    const key = pageKey(pull, of);
    const page = this.#pages.get(key) ?? { pull, of, author, shown: undefined, refused: new Set<string>(), held: "", version: 0 };
    page.author ??= author;
    this.#pages.delete(key);
    this.#pages.set(key, page);
    if (this.#pages.size <= MOST_PAGES) return page;
    const oldest = this.#pages.keys().find((old) => old !== key && !this.#unwritten.has(old));
    if (oldest !== undefined) this.#pages.delete(oldest);
    return page;
  }
}

/** Names a comment among those of its PR: reviews have ids of their own, which may be those of comments. */
export function keyOf({ id, review }: Pick<Comment, "id" | "review">): string {
  return review === true ? `r${id}` : `${id}`;
}

function pageKey(pull: number, of: string | undefined): string {
  return `${pull} ${of ?? ""}`;
}

function isPage({ ours, body }: Comment, of: string | undefined): boolean {
  const marked = ours ? MARKED.exec(body) : null;
  return marked !== null && marked[1] === of;
}

function bodyOf({ shown, refused }: Page): string {
  const lines = [...(shown?.lines ?? [])].map(([line, why]) => ({ text: line, ...why }));
  const held = refused.size === 0 ? "" : `${HELD_FROM} ${[...refused].join(" ")} -->`;
  return `${refusalAnswer(lines, LONGEST_SHOWN)}${held}`;
}

/** What is found at once is shown at once. A late answer to an older comment does not wipe out the newer one's. */
function show(page: Page, { comment, text, author, message }: Refusal): void {
  const before = page.shown;
  if (before?.written === true && isOlder(comment, before.comment)) return;
  const fresh = before === undefined || (before.written && isOlder(before.comment, comment));
  const shown = fresh ? { comment, lines: new Map(), written: false } : before;
  if (isOlder(shown.comment, comment)) shown.comment = comment;
  shown.written = false;
  if (shown.lines.size < MOST_SHOWN || shown.lines.has(text)) shown.lines.set(text, { author, message });
  page.shown = shown;
}

function isOlder(a: string, b: string): boolean {
  return a.localeCompare(b, "en", { numeric: true }) < 0;
}

function takeIn(page: Page, comment: Comment | undefined): void {
  const body = comment?.body ?? "";
  // Only at the very end, which is ours: above it stands what others wrote.
  const at = body.lastIndexOf(HELD_FROM);
  const held = at === -1 ? "" : body.slice(at);
  if (page.held === held) return;
  page.held = held;
  hold(page, HELD.exec(held)?.[1]?.trim().split(" ") ?? []);
}

function hold(page: Page, commands: readonly string[]): void {
  for (const command of commands) if (command !== "") page.refused.add(command);
  if (page.refused.size > 2 * MOST_HELD) holdNewest(page);
}

/** By the number of their comments, so that all replicas hold the same ones, and write the same. */
function holdNewest(page: Page): void {
  const inOrder = [...page.refused].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  page.refused = new Set(inOrder.slice(-MOST_HELD));
}
