/** `stagecoach pin get|set`: one pin is read or written, and every other byte of the file stays as it is. */
import { existsSync } from "node:fs";
import { open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { type Command, Option } from "commander";
import { defined } from "../../../core/base/defined.ts";
import { errorText } from "../../../core/base/error-text.ts";
import { findPin } from "../../../core/pins/find.ts";
import { splice } from "../../../core/pins/splice.ts";
import type { Found, PinError, PinPart, SpliceEdit } from "../../../core/pins/types.ts";
import { sayPin } from "../../../core/report/reasons/problems/pins.ts";
import { nestedCommand, outputOption, runNested } from "../args.ts";
import { CommandError } from "../command.ts";
import { formatData, visible } from "../print.ts";

interface Options {
  part?: PinPart;
  create?: boolean;
  output: "text" | "json" | "yaml";
}

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
    .option("--create", "write the key or item of a list where it is absent, or its value where that is empty")
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
    .addOption(outputOption("text", "json", "yaml"));
}

class Refusal extends Error {
  /** 3: the file itself cannot be read. */
  readonly exitCode: 1 | 3;
  constructor(message: string, exitCode: 1 | 3 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** One line a refusal, whatever it is about, so that editors and scripts can go to the place. */
async function report(work: () => Promise<void>): Promise<number> {
  try {
    await work();
    return 0;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    process.stderr.write(`${visible(error.message)}\n`);
    return error.exitCode;
  }
}

async function get(file: string, path: string, options: Options): Promise<void> {
  const seen = await readPinFile(file);
  const found = findPin(seen.text, pinOf(path, options), { format: formatOf(file) });
  if (!found.ok) throw refusal(file, found.error, "pin set --create");
  const { value, line, column } = found.found;
  print(options, { file, path, value, line, column }, value ?? "");
}

async function set(file: string, path: string, value: string, options: Options): Promise<void> {
  const seen = await readPinFile(file);
  const edit: SpliceEdit = { ...pinOf(path, options), value };
  const done = splice(seen.text, [edit], { format: formatOf(file) });
  if (!done.ok) throw refusal(file, done.error);
  const from = done.found[0]?.value ?? null;
  const there = findPin(done.text, edit, { format: formatOf(file) });
  const { line, column } = there.ok ? there.found : (done.found[0] as Found);
  if (done.text !== seen.text)
    await writePinFile(seen, done.text).catch((error: unknown) => {
      throw new CommandError(3, `${file} cannot be written: ${errorText(error)}`);
    });
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

/** `create`: how it is asked for, which only `pin set` takes. */
function refusal(file: string, error: PinError, create = "--create"): Refusal {
  const { line, column } = error;
  const { message, hint } = sayPin(error);
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  const asked = hint.replaceAll("`create`", `\`${create}\``).replaceAll("`part`", "`--part`");
  return new Refusal(`${place}: ${message}; ${asked}`.replaceAll(/\s*\n\s*/g, " "));
}

function print(options: Options, data: object, text: string): void {
  // A script gets the value as it stands.
  const shown = process.stdout.isTTY === true ? visible(text) : text;
  process.stdout.write(
    options.output === "yaml" ? formatData(data, "yaml") : `${options.output === "json" ? JSON.stringify(data) : shown}\n`,
  );
}

/** A file as read: what it holds, and where it really is. */
interface Seen {
  text: string;
  /** Behind symbolic links. */
  path: string;
  mode: number;
}

/** What `splice` reads at most; more is not even loaded. */
const MAX_BYTES = 10 * 1024 * 1024;

function formatOf(file: string): "json" | "auto" {
  return file.toLowerCase().endsWith(".json") ? "json" : "auto";
}

/**
 * Reads a file to be edited. A symbolic link is followed, unless it leads out of the Git repository it stands in.
 */
async function readPinFile(file: string): Promise<Seen> {
  try {
    const path = await realpath(file);
    const root = repositoryOf(dirname(resolve(file)));
    if (root !== undefined && !path.startsWith((await realpath(root)) + sep))
      throw new Refusal(`it is a link that leads out of the repository, to ${path}. Edit that file itself`);
    const found = await stat(path);
    if (!found.isFile()) throw new Refusal("it is not a plain file. Name the file that holds the pin");
    if (found.size > MAX_BYTES)
      throw new Refusal(`the file is larger than ${MAX_BYTES / 1024 / 1024} MiB. Keep pins in a smaller file, one per cluster or stage`);
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(path));
    return { text, path, mode: found.mode & 0o7777 };
  } catch (error) {
    const isOfSystem = error instanceof Error && "syscall" in error;
    throw new Refusal(`${file}: ${whyUnread(error)}`, isOfSystem ? 3 : 1);
  }
}

function whyUnread(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof TypeError) return "the file is not UTF-8 text. Convert it first";
  const code = error instanceof Error && "code" in error ? error.code : "";
  if (code === "ENOENT") return "there is no such file. Check the path, which counts from the current directory";
  return `it cannot be read (${errorText(error)}). Check its permissions`;
}

function repositoryOf(from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** Replaces a file in one step, with its mode: a reader sees the old text or the new one, and a crash leaves the old one. */
async function writePinFile(seen: Seen, text: string): Promise<void> {
  const temporary = join(dirname(seen.path), `.${basename(seen.path)}.${process.pid}.tmp`);
  const handle = await open(temporary, "wx", 0o600);
  try {
    try {
      await handle.writeFile(text);
      await handle.chmod(seen.mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, seen.path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
