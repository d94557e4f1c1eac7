/**
 * What is kept of each repository besides, as text of JSON: the owner alone writes it. Opened by the server. It stays for a while after its
 * repository is gone, for whoever could not list an installation takes it for gone.
 */
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

/** Forgets what is of repositories that nobody has known for so long. */
export async function tidyDocuments(database: Database): Promise<void> {
  await database.query(TIDY);
}

const GONE_DAYS = 3;
const TIDY = `with known as (select key from stagecoach.repositories),
  back as (update stagecoach.documents set gone_at = null where gone_at is not null and repository in (select key from known)),
  gone as (update stagecoach.documents set gone_at = now() where gone_at is null and repository not in (select key from known))
  delete from stagecoach.documents
    where gone_at < now() - interval '${GONE_DAYS} days' and repository not in (select key from known)`;
const WRITE = `insert into stagecoach.documents (kind, repository, value) values ($1, $2, $3::json)
  on conflict (kind, repository) do update set value = excluded.value`;
