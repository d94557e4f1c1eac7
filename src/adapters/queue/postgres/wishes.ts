/** When repositories want to be looked at, written down for whoever takes them over: once a second for all, where it has changed. */
import type { Database } from "./database.ts";

export function openWishes(database: Database, me: () => string | undefined) {
  const written = new Map<string, number | undefined>();
  const changed = new Map<string, number | undefined>();
  return {
    /** `dueAt`: by the clock of all; 0: at once; undefined: nothing is awaited. */
    note(repository: string, dueAt: number | undefined): void {
      if (written.has(repository) && written.get(repository) === dueAt) changed.delete(repository);
      else changed.set(repository, dueAt);
    },
    async write(): Promise<void> {
      const now = [...changed];
      if (now.length === 0) return;
      await database.query(WRITE, [now.map(([key]) => key), now.map(([, dueAt]) => dueAt ?? null), me() ?? null]);
      for (const [key, dueAt] of now) {
        written.set(key, dueAt);
        if (changed.get(key) === dueAt) changed.delete(key);
      }
    },
    drop(repository: string): void {
      written.delete(repository);
      changed.delete(repository);
    },
    dropAll(): void {
      written.clear();
      changed.clear();
    },
  };
}

const WRITE = `update stagecoach.repositories r set due_at = given.due_at
  from unnest($1::text[], $2::bigint[]) as given (key, due_at) where r.key = given.key and r.owner = $3::uuid`;
