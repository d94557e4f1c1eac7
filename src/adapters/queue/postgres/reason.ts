import type { AnyReason } from "../../../core/base/reason.ts";
import { setting } from "../../../core/reasons/settings.ts";
import { DatabaseError } from "./database.ts";
import { SchemaError } from "./migrate.ts";

/** Says why PostgreSQL cannot be used, for people. */
export function reasonOf(error: unknown): AnyReason {
  return error instanceof SchemaError || error instanceof DatabaseError ? error.reason : setting("NOT_STARTED", { said: String(error) });
}
