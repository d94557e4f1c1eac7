/**
 * In whose rounds owners end. The first round of each owner is marked in the repository's row before it begins, and taken off by whichever
 * ends first, well or not. A repository whose owners are gone one after the other before any has ended is slowed by `ownership.ts`: who waits
 * for nothing dies of it for ever. A death in a later round is not seen, the next owner's is. Called by `queue.ts`.
 */
import type { Database } from "./database.ts";

export function openMarks(database: Database, me: () => string | undefined) {
  /** Of repositories that are looked after here: none of their rounds has ended, or one has; then whether that was written down. */
  const marks = new Map<string, "begun" | "ended" | "written">();
  return {
    /** None of its rounds was begun here yet. */
    isFirst: (repository: string) => !marks.has(repository),
    /** Where PostgreSQL does not take it, the round is begun all the same. */
    async begin(repository: string): Promise<void> {
      marks.set(repository, "begun");
      await database.query(BEGIN, [repository, me() ?? null]).catch(() => undefined);
    },
    /** However it ended: this process lives. */
    ended(repository: string): void {
      if (marks.get(repository) === "begun") marks.set(repository, "ended");
    },
    /** This process goes of itself: it was ended by none of its rounds, also not by those that go on. */
    endAll(): void {
      for (const [repository, mark] of marks) if (mark === "begun") marks.set(repository, "ended");
    },
    drop: (repository: string) => void marks.delete(repository),
    dropAll: () => marks.clear(),
    async write(): Promise<void> {
      const ended = [...marks].filter(([, mark]) => mark === "ended").map(([key]) => key);
      if (ended.length === 0) return;
      await database.query(END, [ended, me() ?? null]);
      for (const key of ended) if (marks.get(key) === "ended") marks.set(key, "written");
    },
  };
}

const BEGIN = `update stagecoach.repositories set unended = unended + 1, slow_until = null, due_at = 0 where key = $1 and owner = $2::uuid`;
const END = "update stagecoach.repositories set unended = 0 where key = any($1::text[]) and owner = $2::uuid";
