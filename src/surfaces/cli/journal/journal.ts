import { CommandError, type CommandModule } from "../command.ts";

const PARTS: Record<string, () => Promise<CommandModule>> = {
  show: () => import("./show.ts"),
  accept: () => import("./accept.ts"),
};

const HELP = `Usage: stagecoach journal PART [ARGS…]

The branch that keeps the state of all runs: whose it is, whether it is as the bot left it, and what to do where it is not.

  show    its head, its owner, and every commit that is not the bot's
  accept  accepts it as it stands, whoever wrote it
`;

/** `stagecoach journal show|accept …`. */
export async function run(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === "--help" || name === "-h") {
    process.stdout.write(HELP);
    return name === undefined ? 2 : 0;
  }
  const part = PARTS[name];
  if (part === undefined)
    throw new CommandError(2, `journal has no part "${name}"; it has ${Object.keys(PARTS).join(" and ")}; see stagecoach journal --help`);
  return (await part()).run(rest);
}
