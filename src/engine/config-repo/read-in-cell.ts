/**
 * Has a cell do what of a pass over a snapshot's files takes long: what is merged is read and rendered where others wait only for as long as
 * an ordinary repository needs. `src/surfaces/server/cell/inside.ts` is its other end.
 */
import { createHash } from "node:crypto";
import { type Answers, type Cell, type CellOutcome, TooMuchAsked } from "../../adapters/cell/port.ts";
import type { Mirror } from "../../adapters/git/port.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import { inPass, type Pass } from "../../core/base/pass.ts";

/** How the work is called inside of a cell. */
export const READ_APART = "readApart";

/** What a cell holds of files in all is bounded there; what one question brings, here, where everybody's memory is. */
const MOST_ANSWERED = 64 * 1024 * 1024;
/** Each may be as large as a file may be at all. */
const FILES_AT_ONCE = 8;

/** Reads files that a cell asks for, a few at a time. @throws TooMuchAsked where they are too large together */
export async function filesForCell(
  mirror: Pick<Mirror, "readFiles" | "bring">,
  commit: string,
  paths: readonly string[],
  options?: { maxBytes?: number },
): Promise<Map<string, string | null>> {
  const texts = new Map<string, string | null>();
  let left = MOST_ANSWERED;
  if (paths.length > FILES_AT_ONCE) await mirror.bring?.(commit, paths);
  for (let at = 0; at < paths.length; at += FILES_AT_ONCE) {
    for (const [path, text] of await mirror.readFiles(commit, paths.slice(at, at + FILES_AT_ONCE), options)) {
      left -= text?.length ?? 0;
      texts.set(path, text);
    }
    if (left < 0) throw new TooMuchAsked(`files of more than ${MOST_ANSWERED} characters`);
  }
  return texts;
}

/** Several pieces of work of one kind on one text. */
export interface ApartInput {
  work: string;
  id: string;
  text: string;
  rests: readonly unknown[];
}

/** What a pass may take here, in steps: about a fifth of a second. */
const MOST_STEPS = 200_000;
/** A text that a cell was killed for so often is given to none for a while: the files that a template reads may be put right meanwhile. */
const MOST_KILLS = 2;
const KILLS_COUNT_MS = 15 * 60_000;
const MOST_KNOWN = 1000;

const kills = new BoundedMap<string, { count: number; at: number }>(MOST_KNOWN);

function killsOf(key: string): number {
  const { count, at } = kills.get(key) ?? { count: 0, at: 0 };
  return performance.now() - at < KILLS_COUNT_MS ? count : 0;
}

/** Tries once more what a cell was killed for: a machine without memory kills for nobody's fault. undefined: not tried any more. */
async function runTwice(key: string, run: () => Promise<CellOutcome>): Promise<CellOutcome | undefined> {
  for (let count = killsOf(key); count < MOST_KILLS; count++) {
    const outcome = await run();
    if (outcome.kind === "done") kills.delete(key);
    if (outcome.kind !== "killed") return outcome;
    kills.set(key, { count: count + 1, at: performance.now() });
  }
  return undefined;
}

interface Asked {
  work: string;
  text: string;
  rest: unknown;
  tooMuch: unknown;
}

/** Work of the passes over one snapshot: what was done elsewhere is kept as long as that. */
interface Desk {
  /** Makes a pass. `asked`: it is worth nothing, and is to be made again after `finish`. */
  pass<T>(work: () => T): { asked: readonly Asked[]; result: () => T };
  finish(asked: readonly Asked[]): Promise<void>;
}

/** Who passes over files of his own does everything at once. */
export const NO_DESK: Desk = { pass: (work) => ({ asked: [], result: work }), finish: async () => undefined };

export function openDesk(cell: Cell, mirror: Mirror, id: string): Desk {
  const done = new Map<string, Map<string, { value: unknown }>>();
  const answers: Answers = {
    "files.read": (paths: string[]) => filesForCell(mirror, id, paths),
    "files.paths": () => mirror.listFiles(id),
  };

  async function doAll(pieces: readonly [Asked, ...Asked[]]): Promise<void> {
    const [{ work, text }] = pieces;
    const key = createHash("sha256")
      .update(`${work}\n${text}\n${JSON.stringify(pieces.map(({ rest }) => rest))}`)
      .digest("hex");
    const input: ApartInput = { work, id, text, rests: pieces.map(({ rest }) => rest) };
    const outcome = await runTwice(key, () => cell.run({ name: READ_APART, input, answers }));
    if (outcome?.kind === "failed") throw new Error(`${work} of ${id}: ${outcome.said}`);
    const values = outcome?.kind === "done" ? (outcome.value as unknown[]) : pieces.map(({ tooMuch }) => tooMuch);
    const known = done.get(nameOf(work, text)) ?? new Map<string, { value: unknown }>();
    done.set(nameOf(work, text), known);
    for (const [index, { rest }] of pieces.entries()) known.set(JSON.stringify(rest), { value: values[index] });
  }

  return {
    pass(work) {
      const asked: Asked[] = [];
      const own: Pass = {
        left: MOST_STEPS,
        found: (name, text, rest) => (done.size === 0 ? undefined : done.get(nameOf(name, text))?.get(JSON.stringify(rest))),
        ask: (name, text, rest, tooMuch) => void asked.push({ work: name, text, rest, tooMuch }),
        get isMissing() {
          return asked.length > 0;
        },
      };
      try {
        const result = inPass(own, work);
        return { asked, result: () => result };
      } catch (error) {
        const thrown = (): never => {
          throw error;
        };
        return { asked, result: thrown };
      }
    },
    async finish(asked) {
      for (const [first, ...others] of Map.groupBy(asked, ({ work, text }) => nameOf(work, text)).values())
        if (first !== undefined) await doAll([first, ...others]);
    },
  };
}

function nameOf(work: string, text: string): string {
  return `${work}\n${text}`;
}
