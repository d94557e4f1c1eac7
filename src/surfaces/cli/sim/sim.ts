import { CommandError, type CommandModule } from "../command.ts";

const PARTS: Record<string, () => Promise<CommandModule>> = {
  github: () => import("./github.ts"),
  argocd: () => import("./argocd.ts"),
};

const HELP = `Usage: stagecoach sim PART [ARGS…]

The parts of the embedded world on their own, for trying the bot against one real part at a time.

  github  one config repo on an embedded GitHub
  argocd  an embedded Kubernetes API and an Argo CD that follows a repo
`;

/** `stagecoach sim github|argocd …`. */
export async function run(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === "--help" || name === "-h") {
    process.stdout.write(HELP);
    return name === undefined ? 2 : 0;
  }
  const part = PARTS[name];
  if (part === undefined) throw new CommandError(2, `there is no part "${name}"; there are ${Object.keys(PARTS).join(" and ")}`);
  return (await part()).run(rest);
}
