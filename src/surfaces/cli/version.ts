import { Command } from "commander";
import { outputOption, parseArgs } from "./args.ts";
import { ownVersion } from "./own-version.ts";
import { printed } from "./print.ts";

/** `stagecoach version`: the package's version and the Node it runs on. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = new Command("stagecoach version")
    .description("the version of Stagecoach, and of the Node it runs on")
    .addOption(outputOption("text", "json", "yaml"));
  if (parseArgs(command, argv) === undefined) return 0;
  const version = ownVersion();
  const node = process.versions.node;
  const { output } = command.opts<{ output: "text" | "json" | "yaml" }>();
  const data = { version, node };
  const text =
    output === "text" ? `stagecoach ${version} (Node ${node})\n` : output === "json" ? `${JSON.stringify(data)}\n` : printed(data, output);
  process.stdout.write(text);
  return 0;
}
