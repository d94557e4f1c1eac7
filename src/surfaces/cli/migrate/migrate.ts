/** `stagecoach migrate`: makes the tables by which replicas share repositories, or brings them up to date. */
import { resolve } from "node:path";
import { Command } from "commander";
import { openDatabase } from "../../../adapters/queue/postgres/database.ts";
import { migrate, SCHEMA_VERSION } from "../../../adapters/queue/postgres/migrate.ts";
import { reasonOf } from "../../../adapters/queue/postgres/reason.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { databaseUrlOf } from "../../server/config/env.ts";
import { SettingError } from "../../server/config/setting-errors.ts";
import { parseArgs } from "../args.ts";
import { CommandError } from "../command.ts";
import { visible } from "../print.ts";
import { environmentWith } from "../serve/env-file.ts";
import { readConfig } from "../serve/serve.ts";

interface Options {
  config?: string;
  env: string;
}

export async function run(argv: readonly string[]): Promise<number> {
  const command = new Command("stagecoach migrate")
    .description("Makes the tables of queue.kind: postgres, or brings them up to date. A start does it, too, where its role may.")
    .option("--config <file>", "the server's configuration (default: as `stagecoach serve`)")
    .option("--env <file>", "settings below those of the environment", ".env")
    .addHelpText("after", "\nExit codes: 0 the tables are up to date; 2 wrong usage; 3 PostgreSQL cannot be used\n");
  const options = parseArgs(command, argv)?.opts<Options>();
  if (options === undefined) return 0;
  const database = openDatabase(addressOf(options));
  try {
    const taken = await migrate(database);
    process.stdout.write(`The tables are at step ${SCHEMA_VERSION}${taken === 0 ? ", as they were" : `; ${taken} taken now`}.\n`);
    return 0;
  } catch (error) {
    throw new CommandError(3, visible(sentenceOf(reasonOf(error))));
  } finally {
    await database.close();
  }
}

function addressOf({ config: file, env: envFile }: Options): string {
  const env = environmentWith(resolve(envFile), process.env);
  try {
    const url = databaseUrlOf(readConfig(file, env), env);
    if (url !== undefined) return url;
  } catch (error) {
    if (error instanceof SettingError) throw new CommandError(2, visible(error.message));
    throw error;
  }
  throw new CommandError(2, "the server's configuration has no queue of kind postgres; there is nothing to migrate");
}
