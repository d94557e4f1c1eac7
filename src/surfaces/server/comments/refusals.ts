/** The one comment of refusals on each PR keeps what was refused for good, over restarts and replicas. Called by `answers.ts`. */
import { type Comment, type Forge, ForgeError } from "../../../adapters/forge/port.ts";
import { refusalAnswer } from "../../../core/report/answers.ts";
import type { Log } from "../../../engine/round/context.ts";

export interface Refusal {
  pull: number;
  /** The comment it stands in, and its author. */
  comment: number;
  author: string;
  /** The command as written, one line. */
  text: string;
  message: string;
  /** `123456#0`: it is never judged again. Absent: whoever refused it remembers that. */
  command?: string;
  /** False: it is noted only, and shown where nothing else is. */
  shown: boolean;
}

export type RefusalComments = ReturnType<typeof refusalComments>;

const MARKER = "stagecoach:answer";
/** Of refusals shown together. */
const MOST_SHOWN = 12;
/** Of refused commands held, the newest; of a comment's 65,536 characters. */
const MOST_HELD = 500;
const LONGEST_SHOWN = 50_000;
/** Of PRs: what is forgotten stands in their comments, and is taken in again with them. */
const MOST_PAGES = 1_000;
const HELD_FROM = "\n<!-- refused:";
const HELD = /^\n<!-- refused:((?: \d{1,16}#\d{1,2})*) -->$/;

interface Shown {
  /** The newest that lines are from. */
  comment: number;
  lines: Map<string, { author: string; message: string }>;
  written: boolean;
}

interface Page {
  shown: Shown | undefined;
  refused: Set<string>;
  /** What was held in it when it was read last. */
  held: string;
  /** How often something was added. */
  version: number;
}

/**
 * The one comment of refusals that a PR has: shows those of the last comments that had some, and holds, unseen, which
 * commands were refused. So they stay refused for whoever reads the PR after us; until it is written, nobody was told anything.
 */
export function refusalComments(forge: Forge, log: Log) {
  const pages = new Map<number, Page>();
  const unwritten = new Set<number>();

  /** Those used last are kept, and those that wait to be written. */
  function pageOf(pull: number): Page {
    const page = pages.get(pull) ?? { shown: undefined, refused: new Set<string>(), held: "", version: 0 };
    pages.delete(pull);
    pages.set(pull, page);
    if (pages.size <= MOST_PAGES) return page;
    const oldest = pages.keys().find((old) => old !== pull && !unwritten.has(old));
    if (oldest !== undefined) pages.delete(oldest);
    return page;
  }

  /** Takes in first what stands there: another replica may have refused something since. False: to be tried again. */
  async function writeOne(pull: number, page: Page): Promise<boolean> {
    const { version } = page;
    try {
      takeIn(page, await forge.comments(pull));
      holdNewest(page);
      await forge.stickyComment(pull, MARKER, bodyOf(page));
    } catch (error) {
      log.warn({ pull, error: String(error) }, "the comment of refusals could not be written");
      // Deleted or locked meanwhile: it will not be written later, either.
      const never = error instanceof ForgeError && ["NotFound", "Forbidden", "Invalid"].includes(error.kind);
      if (never) unwritten.delete(pull);
      return never;
    }
    // What was added while it was on its way is still to be written.
    if (page.version !== version) return true;
    if (page.shown !== undefined) page.shown.written = true;
    unwritten.delete(pull);
    return true;
  }

  return {
    /** Takes in what was refused before us, from a PR's comments. */
    recall(pull: number, comments: readonly Comment[]): void {
      if (ownOf(comments) !== undefined) takeIn(pageOf(pull), comments);
    },
    has: (pull: number, command: string) => pages.get(pull)?.refused.has(command) === true,
    /** Shown and held from the next `write` on. */
    add(refusal: Refusal): void {
      const page = pageOf(refusal.pull);
      page.version += 1;
      if (refusal.command !== undefined) hold(page, [refusal.command]);
      if (refusal.shown || page.shown === undefined) show(page, refusal);
      unwritten.add(refusal.pull);
    },
    /** Writes what was added, a comment a PR. Gives the PRs where it could not be written: there it is tried again the next time. */
    async write(): Promise<ReadonlySet<number>> {
      const failed = new Set<number>();
      for (const pull of [...unwritten]) {
        const page = pages.get(pull);
        if (page !== undefined && !(await writeOne(pull, page))) failed.add(pull);
      }
      return failed;
    },
  };
}

function bodyOf({ shown, refused }: Page): string {
  const lines = [...(shown?.lines ?? [])].map(([line, why]) => ({ text: line, ...why }));
  const held = refused.size === 0 ? "" : `${HELD_FROM} ${[...refused].join(" ")} -->`;
  return `${refusalAnswer(lines, LONGEST_SHOWN)}${held}`;
}

/** What is found at once is shown at once. A late answer to an older comment does not wipe out the newer one's. */
function show(page: Page, { comment, text, author, message }: Refusal): void {
  const before = page.shown;
  if (before?.written === true && before.comment > comment) return;
  const fresh = before === undefined || (before.written && before.comment < comment);
  const shown = fresh ? { comment, lines: new Map(), written: false } : before;
  shown.comment = Math.max(shown.comment, comment);
  shown.written = false;
  if (shown.lines.size < MOST_SHOWN) shown.lines.set(text, { author, message });
  page.shown = shown;
}

function ownOf(comments: readonly Comment[]): Comment | undefined {
  return comments.find((comment) => comment.ours && comment.body.startsWith(`<!-- ${MARKER} -->`));
}

function takeIn(page: Page, comments: readonly Comment[]): void {
  const body = ownOf(comments)?.body ?? "";
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
  const inOrder = [...page.refused].map((command) => ({ command, place: command.split("#").map(Number) }));
  inOrder.sort(({ place: [a = 0, i = 0] }, { place: [b = 0, j = 0] }) => a - b || i - j);
  page.refused = new Set(inOrder.slice(-MOST_HELD).map(({ command }) => command));
}
