/** `stagecoach pin get|set`: one pin is read or written, and every other byte of the file stays as it is. */
import { type Command, Option } from "commander";
import { defined } from "../../../core/base/defined.ts";
import { type Found, findPin, type PinError, type PinPart, type SpliceEdit, splice } from "../../../core/pins/index.ts";
import { nestedCommand, runNested } from "../args.ts";
import { CommandError } from "../command.ts";
import { visible } from "../print.ts";
import { formatOf, readPinFile, type Seen, writePinFile } from "./file.ts";

interface Options {
  part?: PinPart;
  create?: boolean;
  output: "text" | "json";
}

/** `stagecoach pin get|set`: reads one pin of a file, or splices a value in and leaves every other byte alone. */
export async function run(argv: readonly string[]): Promise<number> {
  let code = 0;
  const program = nestedCommand("stagecoach pin").description("one pin: the place in a file where a version is written");
  shared(program.command("get"))
    .description("print the value at PATH")
    .action(async (file: string, path: string, options: Options) => {
      code = await report(() => get(file, path, options));
    });
  shared(program.command("set"))
    .description("write VALUE at PATH, in place; every other byte of the file stays")
    .argument("<value>", "the new value; after -- if it begins with a dash")
    .option("--create", "write the key where it is absent, or its value where that is empty")
    .addHelpText(
      "after",
      "\nA value keeps its quotes; a plain one gets some where it would change type. A link stays a link: the file it leads to is edited.",
    )
    .action(async (file: string, path: string, value: string, options: Options) => {
      code = await report(() => set(file, path, value, options));
    });
  program.addHelpText("after", PATHS);
  return (await runNested(program, argv)) ?? code;
}

const PATHS = `
Paths:
  spec.source.targetRevision                     keys, separated by dots
  spec.generators[0].list.elements[cluster=eu-1].targetRevision
                                                 [0] an index, [key=value] the item whose key is value
  metadata.labels["app.kubernetes.io/version"]   a key with dots
  '#2/image.tag'                                 the second document of the file
  spec.source.helm.values!image.tag              ! goes on inside the YAML of a block scalar
Parts (--part): tag, digest, tag+digest of an image reference; ref of a URL's ?ref=
Exit codes: 0 done; 1 it cannot be, and the line printed says why; 2 wrong usage; 3 the file cannot be read or written
`;

function shared(command: Command): Command {
  return command
    .exitOverride()
    .argument("<file>", "a YAML or JSON file")
    .argument("<path>", "where the value stands; see `stagecoach pin --help`")
    .addOption(new Option("--part <part>", "only this part of the value").choices(["tag", "digest", "tag+digest", "ref"]))
    .addOption(new Option("-o, --output <format>", "how to print").choices(["text", "json"]).default("text"));
}

class Refusal extends Error {
  readonly line: string;
  constructor(line: string) {
    super(line);
    this.line = line;
  }
}

/** One line a refusal, whatever it is about, so that editors and scripts can go to the place. */
async function report(work: () => Promise<void>): Promise<number> {
  try {
    await work();
    return 0;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    process.stderr.write(`${visible(error.line)}\n`);
    return 1;
  }
}

async function get(file: string, path: string, options: Options): Promise<void> {
  const seen = await read(file);
  const found = findPin(seen.text, pinOf(path, options), { format: formatOf(file) });
  if (!found.ok) throw refusal(file, found.error);
  const { value, line, column } = found.found;
  print(options, { file, path, value, line, column }, value ?? "");
}

async function set(file: string, path: string, value: string, options: Options): Promise<void> {
  const seen = await read(file);
  const edit: SpliceEdit = { ...pinOf(path, options), value };
  const done = splice(seen.text, [edit], { format: formatOf(file) });
  if (!done.ok) throw refusal(file, done.error);
  const from = done.found[0]?.value ?? null;
  const there = findPin(done.text, edit, { format: formatOf(file) });
  const { line, column } = there.ok ? there.found : (done.found[0] as Found);
  if (done.text !== seen.text) await write(file, seen, done.text);
  const change =
    done.text === seen.text ? `is ${onOneLine(value)} already` : `${from === null ? "(nothing)" : onOneLine(from)} → ${onOneLine(value)}`;
  print(options, { file, path, value, line, column, from }, `${file}:${line}:${column}: ${path} ${change}`);
}

function onOneLine(value: string): string {
  return visible(value.includes("\n") ? JSON.stringify(value) : value);
}

function pinOf(path: string, { part, create }: Options): Pick<SpliceEdit, "path" | "part" | "create"> {
  return defined({ path, part, create: create || undefined });
}

async function read(file: string): Promise<Seen> {
  const seen = await readPinFile(file);
  if (typeof seen === "string") throw new Refusal(`${file}: ${seen}`);
  return seen;
}

async function write(file: string, seen: Seen, text: string): Promise<void> {
  try {
    await writePinFile(seen, text);
  } catch (error) {
    throw new CommandError(3, `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function refusal(file: string, { message, hint, line, column }: PinError): Refusal {
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  const asked = hint.replaceAll(/`(create|part)`/g, "`--$1`");
  return new Refusal(`${place}: ${message}. ${asked}`.replaceAll(/\s*\n\s*/g, " "));
}

function print(options: Options, data: object, text: string): void {
  // A script gets the value as it stands.
  const shown = process.stdout.isTTY === true ? visible(text) : text;
  process.stdout.write(`${options.output === "json" ? JSON.stringify(data) : shown}\n`);
}
