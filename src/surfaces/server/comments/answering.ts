/**
 * Answers to comments, on their way: no round waits for them, and they come after what rounds write.
 *
 * Of one installation one answer is under way at a time, for GitHub takes about one write a second of it; its repositories take turns, and
 * those whose round is under way wait for its end, but for two words to somebody who steers. What is lost in a crash is asked for again by
 * the comment itself.
 */
import { AsyncResource } from "node:async_hooks";
import { BoundedMap } from "../../../core/base/bounded.ts";

/** Where the answers of one repository wait for their turn. */
export interface Answering {
  /**
   * Gives an answer in its turn; of those of one key that wait only the newest. False: too many wait. It must not reject. A prompt one
   * waits for no hold, as long as there are few of them.
   */
  later(key: string, answer: () => Promise<void>, isPrompt?: boolean): boolean;
  /** None is begun until this hold is let go. */
  hold(): () => void;
  /** One waits, or is under way. */
  isOpen(): boolean;
  /** Resolves when none waits or is under way. */
  settled(): Promise<void>;
  /** Those that wait are dropped; resolves when none is under way. */
  close(): Promise<void>;
}

/** Of one repository. */
const MOST_WAITING = 500;
/** Prompt answers while a repository is held: each takes a second of what its round writes. */
const MOST_PROMPT = 2;
/** An installation that was forgotten gets another line: two answers of it may be under way then. */
const MOST_LINES = 5_000;

interface Repo {
  waiting: Map<string, () => Promise<void>>;
  /** Keys of those that wait. */
  prompt: Set<string>;
  /** How many more prompt ones are given before the repository is let go. */
  promptLeft: number;
  holds: number;
  /** Which turn of all was its last. */
  lastTurn: number;
  underWay: boolean;
  idlers: (() => void)[];
}

/** Opens the line of one installation; gives each of its repositories a place in it. */
export function openAnswering(): () => Answering {
  const repos = new Set<Repo>();
  let turns = 0;
  let moving = false;

  async function move(): Promise<void> {
    if (moving) return;
    moving = true;
    for (let repo = next(repos); repo !== undefined; repo = next(repos)) await answerOne(repo, ++turns);
    moving = false;
  }

  return () => {
    const repo: Repo = {
      ...{ waiting: new Map(), prompt: new Set<string>(), promptLeft: MOST_PROMPT },
      ...{ holds: 0, lastTurn: 0, underWay: false, idlers: [] },
    };
    repos.add(repo);
    let closed = false;
    return {
      later(key, answer, isPrompt = false) {
        if (closed || (repo.waiting.size >= MOST_WAITING && !repo.waiting.has(key))) return false;
        // Given in the name of who asked for it, whoever's turn comes before.
        repo.waiting.set(key, AsyncResource.bind(answer));
        if (isPrompt) repo.prompt.add(key);
        void move();
        return true;
      },
      hold() {
        repo.holds += 1;
        let held = true;
        return () => {
          if (held) repo.holds -= 1;
          held = false;
          if (repo.holds === 0) repo.promptLeft = MOST_PROMPT;
          void move();
        };
      },
      isOpen: () => isOpen(repo),
      settled: () => settled(repo),
      async close() {
        closed = true;
        repo.waiting.clear();
        repo.prompt.clear();
        repos.delete(repo);
        await settled(repo);
      },
    };
  };
}

async function answerOne(repo: Repo, turn: number): Promise<void> {
  const key = nextKey(repo);
  const answer = key === undefined ? undefined : repo.waiting.get(key);
  if (key === undefined || answer === undefined) return;
  if (repo.holds > 0) repo.promptLeft -= 1;
  repo.waiting.delete(key);
  repo.prompt.delete(key);
  repo.lastTurn = turn;
  repo.underWay = true;
  await answer().catch(() => undefined);
  repo.underWay = false;
  rest(repo);
}

/** By installation. */
export function openAnswerLines(most = MOST_LINES): (installationId: number) => Answering {
  const lines = new BoundedMap<number, () => Answering>(most);
  return (installationId) => {
    const place = lines.get(installationId) ?? openAnswering();
    lines.set(installationId, place);
    return place();
  };
}

/** What a repository says next; undefined: nothing, or nothing while it is held. */
function nextKey({ waiting, prompt, promptLeft, holds }: Repo): string | undefined {
  const [first] = holds === 0 ? waiting.keys() : promptLeft > 0 ? prompt : [];
  return first;
}

/** Of those that have something to say, the one whose last turn was the longest ago. */
function next(repos: ReadonlySet<Repo>): Repo | undefined {
  let found: Repo | undefined;
  for (const repo of repos) {
    if (nextKey(repo) === undefined) continue;
    if (found === undefined || repo.lastTurn < found.lastTurn) found = repo;
  }
  return found;
}

function settled(repo: Repo): Promise<void> {
  return new Promise((resolve) => {
    repo.idlers.push(resolve);
    rest(repo);
  });
}

function isOpen({ waiting, underWay }: Repo): boolean {
  return waiting.size > 0 || underWay;
}

function rest(repo: Repo): void {
  if (isOpen(repo)) return;
  for (const resolve of repo.idlers.splice(0)) resolve();
}
