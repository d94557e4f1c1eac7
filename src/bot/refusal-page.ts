import { type Comment, type Forge, ForgeError } from "../forge/port.ts";
import type { Log } from "../reconcile/context.ts";
import { refusalAnswer } from "../report/answers.ts";

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
  told: boolean;
}

/**
 * The one comment of refusals that a PR has: shows those of the last comments that had some, and holds, unseen, which
 * commands were refused. So they stay refused for whoever reads the PR after us; until it is written, nobody was told anything.
 */
export interface RefusalPage {
  /** Takes in what was refused before us, from a PR's comments. */
  recall(pull: number, comments: readonly Comment[]): void;
  has(pull: number, command: string): boolean;
  /** Shown and held from the next `write` on. */
  add(refusal: Refusal): void;
  /** Writes what was added, a comment a PR. False: something could not be written, and is tried again the next time. */
  write(): Promise<boolean>;
}

const MARKER = "stagecoach:answer";
/** Of refusals shown together. */
const MOST_SHOWN = 12;
/** Of refused commands held, the newest; of a comment's 65,536 characters. */
const MOST_HELD = 500;
const LONGEST_SHOWN = 50_000;
const HELD = /\n<!-- refused:((?: \d{1,16}#\d{1,2})*) -->$/;

interface Shown {
  /** The newest that lines are from. */
  comment: number;
  lines: Map<string, { author: string; message: string }>;
  written: boolean;
}

interface Page {
  shown: Shown | undefined;
  refused: Set<string>;
  /** As read last. */
  body: string;
}

export function refusalPage(forge: Forge, log: Log): RefusalPage {
  const pages = new Map<number, Page>();
  const unwritten = new Set<number>();

  function pageOf(pull: number): Page {
    const page = pages.get(pull) ?? { shown: undefined, refused: new Set<string>(), body: "" };
    pages.set(pull, page);
    return page;
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

  async function writeOne(pull: number): Promise<boolean> {
    const { shown, refused } = pageOf(pull);
    const text = refusalAnswer([...(shown?.lines ?? [])].map(([line, why]) => ({ text: line, ...why }))).slice(0, LONGEST_SHOWN);
    const held = refused.size === 0 ? "" : `\n<!-- refused: ${[...refused].join(" ")} -->`;
    try {
      await forge.stickyComment(pull, MARKER, `${text}${held}`);
    } catch (error) {
      log.warn({ pull, error: String(error) }, "the comment of refusals could not be written");
      // Deleted or locked meanwhile: it will not be written later, either.
      return error instanceof ForgeError && ["NotFound", "Forbidden", "Invalid"].includes(error.kind);
    }
    if (shown !== undefined) shown.written = true;
    return true;
  }

  return {
    recall(pull, comments) {
      const own = comments.find((comment) => comment.ours && comment.body.startsWith(`<!-- ${MARKER} -->`));
      if (own === undefined || pages.get(pull)?.body === own.body) return;
      const page = pageOf(pull);
      page.body = own.body;
      // Only at the very end, which is ours: above it stands what others wrote.
      for (const id of HELD.exec(own.body)?.[1]?.trim().split(" ") ?? []) if (id !== "") page.refused.add(id);
    },
    has: (pull, command) => pages.get(pull)?.refused.has(command) === true,
    add(refusal) {
      const page = pageOf(refusal.pull);
      if (refusal.command !== undefined) page.refused.add(refusal.command);
      const oldest = page.refused.values().next().value;
      if (page.refused.size > MOST_HELD && oldest !== undefined) page.refused.delete(oldest);
      if (refusal.told || page.shown === undefined) show(page, refusal);
      unwritten.add(refusal.pull);
    },
    async write() {
      let all = true;
      for (const pull of [...unwritten]) {
        unwritten.delete(pull);
        if (await writeOne(pull)) continue;
        unwritten.add(pull);
        all = false;
      }
      return all;
    },
  };
}
