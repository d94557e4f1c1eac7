import { nearest } from "../../../core/base/nearest.ts";
import { type CommandSpec, type FlagSpec, ROLLOUT_FLAG } from "../../../core/spec/commands.ts";

export type ReadWords = { ok: true; args: string[]; flags: Record<string, string | true> } | { ok: false; message: string };

/** More are cut off: no honest line has them. */
const MOST_WORDS = 200;
/** Of a word that is quoted back. */
const LONGEST_QUOTE = 40;

/**
 * The words and flags of one command, as its entry in the table says they are. A telephone's keyboard makes one long dash of
 * two short ones: that is a flag, too. A reason may hold anything, so there only known flags are flags.
 */
export function readWords(spec: CommandSpec, line: string): ReadWords {
  const words = line.trim().split(/\s+/).slice(1, MOST_WORDS);
  const known = [...spec.flags, ROLLOUT_FLAG];
  const args: string[] = [];
  const flags = new Map<string, string | true>();
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    const [, name, value] = /^(?:--|—|–)([A-Za-z][\w-]*)(?:=(.*))?$/.exec(word) ?? [];
    const flag = name === undefined ? undefined : known.find((one) => one.name === name.toLowerCase());
    if (name === undefined || (flag === undefined && spec.words === "reason")) {
      const arg = spec.words === "reason" ? word : bare(word);
      if (arg !== "") args.push(arg);
      continue;
    }
    if (flag === undefined) return { ok: false, message: unknownFlag(spec, name, known) };
    const following = words[i + 1];
    const given = value ?? (flag.value === undefined ? undefined : following);
    const wrong = wrongValue(spec, flag, given, value !== undefined);
    if (wrong !== undefined) return { ok: false, message: wrong };
    flags.set(flag.name, given === undefined ? true : bare(given));
    if (value === undefined && flag.value !== undefined) i += 1;
  }
  const [first] = args;
  if (first !== undefined && spec.words === "nothing") return { ok: false, message: needless(spec, first) };
  return { ok: true, args, flags: Object.fromEntries(flags) };
}

/** Without the comma of a list and the marks of code. */
function bare(word: string): string {
  return word.replace(/,$/, "").replace(/^`+|`+$/g, "");
}

function quoted(word: string): string {
  const text = word.replaceAll("`", "'");
  return `\`${text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE - 1)}…` : text}\``;
}

function unknownFlag(spec: CommandSpec, name: string, known: readonly FlagSpec[]): string {
  const near = nearest(
    name,
    known.map((flag) => flag.name),
  );
  const hint = near === undefined ? `it has ${known.map((flag) => `\`--${flag.name}\``).join(", ")}` : `did you mean \`--${near}\`?`;
  return `\`/${spec.name}\` has no ${quoted(`--${name}`)}: ${hint}`;
}

function wrongValue(spec: CommandSpec, flag: FlagSpec, given: string | undefined, joined: boolean): string | undefined {
  const name = `\`--${flag.name}\` of \`/${spec.name}\``;
  if (flag.value === undefined) return joined ? `${name} has no value` : undefined;
  const missing = given === undefined || given === "" || /^(?:--|—|–)[A-Za-z]/.test(given);
  return missing ? `${name} wants a value: \`--${flag.name} ${flag.value}\`` : undefined;
}

function needless({ name }: CommandSpec, word: string): string {
  return `\`/${name}\` is for the whole run and takes no words, and here it has ${quoted(word)}: write \`/${name}\` alone, or another command`;
}
