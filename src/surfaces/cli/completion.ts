/** `stagecoach completion`: the scripts are made from what each subcommand says in its own help, so they cannot say anything else. */
import { Argument, Command } from "commander";
import { like, parseArgs } from "./args.ts";
import { CommandError, type CommandModule } from "./command.ts";
import { visible } from "./print.ts";

/** The table of subcommands, as `main.ts` has it. */
type CommandTable = Readonly<Record<string, { summary: string; load: () => Promise<CommandModule> }>>;

interface Known {
  name: string;
  summary: string;
  options: string[];
  /** Whether a rollout's name comes first. */
  takesRollout: boolean;
  /** `get` and `set` of `pin`. */
  under: string[];
}

const SHELLS = ["bash", "zsh", "fish"] as const;

export function completionOf(table: CommandTable): CommandModule {
  return {
    async run(argv) {
      const program = new Command("stagecoach completion")
        .description("a completion script for your shell, on standard output")
        .addArgument(new Argument("<shell>", "which").choices([...SHELLS]).argParser(shellOf))
        .addHelpText("after", HELP);
      const command = parseArgs(program, argv);
      if (command === undefined) return 0;
      const known: Known[] = [];
      for (const [name, { summary, load }] of Object.entries(table)) {
        known.push(
          name === "completion"
            ? { name, summary, options: ["--help"], takesRollout: false, under: [...SHELLS] }
            : { name, summary, ...(await readHelp(await load())) },
        );
      }
      process.stdout.write(scriptFor(command.args[0] ?? "", known));
      return 0;
    },
  };
}

function shellOf(shell: string): string {
  if (SHELLS.some((one) => one === shell)) return shell;
  throw new CommandError(2, visible(`there is no script for "${shell}"${like(shell, SHELLS)}; there are ${SHELLS.join(", ")}`));
}

const HELP = `
  bash: source <(stagecoach completion bash)
  zsh:  source <(stagecoach completion zsh)
  fish: stagecoach completion fish | source`;

/** Each command's own \`--help\` is what people read, so the script cannot say anything else. */
async function readHelp(module: CommandModule): Promise<Omit<Known, "name" | "summary">> {
  const help = await helpOf(module, []);
  const under = innerCommands(help);
  const inner: string[] = [];
  for (const name of under) inner.push(await helpOf(module, [name]));
  const options = [help, ...inner].flatMap((text) => [...text.matchAll(/^\s+(?:-\w, )?(--[a-z][a-z-]*)/gm)].map((match) => match[1] ?? ""));
  return {
    options: [...new Set([...options, "--help"])],
    takesRollout: /^Usage: stagecoach [a-z]+ (?:\[options\] )?(?:NAME\b|\[NAME\]|[<[]name[>\]])/m.test(help),
    under,
  };
}

/** Those of commander's own list, and those of `journal` and `sim`, which have parts instead. */
function innerCommands(help: string): string[] {
  const hasParts = /^Usage: stagecoach [a-z]+ PART\b/.test(help);
  const [, after = ""] = help.split(/^Commands:\n/m);
  const listed = hasParts ? help : (after.split("\n\n")[0] ?? "");
  return [...listed.matchAll(/^ {2}([a-z]+)\b/gm)].map((match) => match[1] ?? "").filter((name) => name !== "help");
}

/** What it prints; it is caught on its way out. */
async function helpOf(module: CommandModule, path: readonly string[]): Promise<string> {
  const { stdout } = process;
  const { write } = stdout;
  let help = "";
  stdout.write = (text: string | Uint8Array) => {
    help += String(text);
    return true;
  };
  try {
    await module.run([...path, "--help"]);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
  } finally {
    stdout.write = write;
  }
  return help;
}

/** Names of rollouts in the checkout around: what `metadata.name` is. */
const ROLLOUTS = `sed -n '/^metadata:/,/^[^ ]/s/^  name: *//p' rollouts/*.yaml 2>/dev/null`;

function scriptFor(shell: string, known: readonly Known[]): string {
  if (shell === "bash") return bash(known);
  return shell === "zsh" ? zsh(known) : fish(known);
}

function bash(known: readonly Known[]): string {
  const cases = known.map(({ name, options, under }) => `    ${name}) words="${[...under, ...options].join(" ")}" ;;`);
  const rollouts = known.filter((one) => one.takesRollout).map((one) => one.name);
  return `# bash completion for stagecoach
_stagecoach() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${known.map((one) => one.name).join(" ")}" -- "$cur"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  if [ "$COMP_CWORD" -eq 2 ] && [[ "$cur" != -* ]]; then
    case "\${COMP_WORDS[1]}" in
      ${rollouts.join("|")}) words="$(${ROLLOUTS})" ;;
    esac
  fi
  if [[ "$cur" != -* ]] && [ -z "$(compgen -W "$words" -- "$cur")" ]; then COMPREPLY=($(compgen -f -- "$cur")); return; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o filenames -F _stagecoach stagecoach
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function zsh(known: readonly Known[]): string {
  const commands = known.map(({ name, summary }) => `    ${quoted(`${name}:${summary.replaceAll(":", "\\:")}`)}`);
  const cases = known.map(({ name, options, under }) => `    ${name}) compadd -- ${[...under, ...options].join(" ")} ;;`);
  const rollouts = known.filter((one) => one.takesRollout).map((one) => one.name);
  return `#compdef stagecoach
_stagecoach() {
  local -a commands
  commands=(
${commands.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  if (( CURRENT == 3 )) && [[ "$words[CURRENT]" != -* ]]; then
    case "$words[2]" in
      ${rollouts.join("|")}) compadd -- \${(f)"$(${ROLLOUTS})"}; return ;;
    esac
  fi
  case "$words[2]" in
${cases.join("\n")}
  esac
  [[ "$words[CURRENT]" != -* ]] && _files
}
compdef _stagecoach stagecoach
`;
}

function fish(known: readonly Known[]): string {
  const names = `"(${ROLLOUTS.replaceAll("$", "\\$").replaceAll('"', '\\"')})"`;
  const lines = known.flatMap(({ name, summary, options, takesRollout, under }) => {
    const behind = `complete -c stagecoach -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c stagecoach -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
      ...options.map((option) => `${behind} -l ${option.slice(2)}`),
      ...under.map((inner) => `${behind} -f -a ${inner}`),
      ...(takesRollout ? [`${behind} -f -a ${names}`] : []),
    ];
  });
  return `# fish completion for stagecoach\n${lines.join("\n")}\n`;
}
