import { Command } from "commander";
import { defined } from "../../core/base/defined.ts";
import { outputOption, parseArgs } from "./args.ts";
import { ownBuild } from "./own-version.ts";
import { formatData } from "./print.ts";

/** `stagecoach version`: the version, the commit it was built from, and the Node it runs on. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = new Command("stagecoach version")
    .description("the version of Stagecoach, what it was built from, and the Node it runs on")
    .addOption(outputOption("text", "json", "yaml"));
  if (parseArgs(command, argv) === undefined) return 0;
  const node = process.versions.node;
  const { output } = command.opts<{ output: "text" | "json" | "yaml" }>();
  const { version, commit, date } = ownBuild();
  const data = defined({ version, commit, date, node });
  const from = commit === undefined ? "" : `commit ${commit.slice(0, 10)}${date === undefined ? "" : ` of ${date.slice(0, 10)}`}, `;
  const text =
    output === "text"
      ? `stagecoach ${version} (${from}Node ${node})\n`
      : output === "json"
        ? `${JSON.stringify(data)}\n`
        : formatData(data, output);
  process.stdout.write(text);
  return 0;
}
