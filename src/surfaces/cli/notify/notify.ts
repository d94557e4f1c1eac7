/** `stagecoach notify test`: one message to each destination of the server's configuration, or to one, and what the service answered. */
import { resolve } from "node:path";
import { NotSent } from "../../../adapters/notify/port.ts";
import { nearest } from "../../../core/base/nearest.ts";
import { testNotice } from "../../../core/report/notify/notice.ts";
import { openDestinations } from "../../server/config/notify.ts";
import { SettingError } from "../../server/config/setting-errors.ts";
import { nestedCommand, runNested } from "../args.ts";
import { CommandError } from "../command.ts";
import { columns, visible } from "../print.ts";
import { environmentWith } from "../serve/env-file.ts";
import { readConfig } from "../serve/serve.ts";

interface Options {
  config?: string;
  env: string;
}

export async function run(argv: readonly string[]): Promise<number> {
  let code = 0;
  const program = nestedCommand("stagecoach notify").description("notifications: the destinations of the server's configuration");
  program
    .command("test")
    .exitOverride()
    .description("send a test message to every destination, or to one, and print what it answered")
    .argument("[destination]", "the name of one")
    .option("--config <file>", "the server's configuration (default: as `stagecoach serve`)")
    .option("--env <file>", "settings below those of the environment", ".env")
    .addHelpText("after", "\nExit codes: 0 all were sent; 1 one was not; 2 wrong usage, or there is no such destination\n")
    .action(async (destination: string | undefined, options: Options) => {
      code = await test(destination, options);
    });
  return (await runNested(program, argv)) ?? code;
}

async function test(wanted: string | undefined, { config: file, env: envFile }: Options): Promise<number> {
  const all = settings(file, envFile);
  const names = all.map(({ name }) => name);
  const chosen = wanted === undefined ? all : all.filter(({ name }) => name === wanted);
  if (all.length === 0) throw new CommandError(2, "the server's configuration has no notifications.destinations");
  if (chosen.length === 0) {
    const near = nearest(wanted ?? "", names);
    const hint = near === undefined ? `there is ${names.slice(0, 20).join(", ")}` : `did you mean ${near}?`;
    throw new CommandError(2, `there is no destination ${visible(wanted ?? "")}; ${visible(hint)}`);
  }
  const now = new Date().toISOString();
  const rows = await Promise.all(
    chosen.map(async ({ name, sender }) => {
      try {
        const { answer } = await sender.send(testNotice(name, now), undefined);
        return { ok: true, row: [visible(name), "sent", visible(answer)] };
      } catch (error) {
        const words = error instanceof NotSent ? error.message : String(error);
        return { ok: false, row: [visible(name), "not sent", visible(words)] };
      }
    }),
  );
  process.stdout.write(columns(rows.map(({ row }) => row)));
  return rows.every(({ ok }) => ok) ? 0 : 1;
}

function settings(file: string | undefined, envFile: string) {
  const env = environmentWith(resolve(envFile), process.env);
  try {
    return openDestinations(readConfig(file, env), env);
  } catch (error) {
    if (error instanceof SettingError) throw new CommandError(2, visible(error.message));
    throw error;
  }
}
