/** What is kept of each repository besides, as text of JSON: the owner alone writes it. Opened by the server. */
import type { Database } from "./database.ts";

export interface Documents {
  read(repository: string): Promise<string | undefined>;
  write(repository: string, text: string): Promise<void>;
}

export function openDocuments(database: Database, kind: string): Documents {
  return {
    async read(repository) {
      const text = "select value::text as value from stagecoach.documents where kind = $1 and repository = $2";
      const [row] = await database.query<{ value: string }>(text, [kind, repository.toLowerCase()]);
      return row?.value;
    },
    async write(repository, text) {
      await database.query(WRITE, [kind, repository.toLowerCase(), text]);
    },
  };
}

const WRITE = `insert into stagecoach.documents (kind, repository, value) values ($1, $2, $3::json)
  on conflict (kind, repository) do update set value = excluded.value`;
