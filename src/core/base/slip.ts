/** Which name was meant by one that is mistyped. Called where a name that is there in another spelling changes what is done. */
import { nearest } from "./nearest.ts";

/**
 * Says whether a name is another one with a slip of the fingers: a word of it has a letter too many, too few or another, or stands
 * together with the next. A name with one word more or less, another word or another number is a name of its own: `enable_aws_x` beside
 * `enable_x`, `us-west-1` beside `eu-west-1`.
 */
export function isSlip(written: string, known: string): boolean {
  if (joined(written) === joined(known)) return true;
  const pair = wordsApart(written, known);
  return pair !== undefined && isSlipOfWord(...pair);
}

/** The key that was most likely meant by one that nobody has: a slip of it, or one of the two is the other cut short, `env` for `environment`. */
export function nearKey(written: string, keys: ReadonlySet<string>): string | undefined {
  const slip = nearest(written, keys, (one) => isSlip(written, one));
  if (slip !== undefined) return slip;
  const [only, ...others] = [...keys].filter((one) => isCutShort(written, one) || isCutShort(one, written));
  return others.length === 0 ? only : undefined;
}

/** The last word of a key by its first three letters, as people do: `env`, `app`, `reg`. */
function isCutShort(short: string, long: string): boolean {
  return /(?:^|[^a-z])[a-z]{3}$/.test(short) && long.startsWith(short) && /^[a-z]{3,}$/.test(long.slice(short.length));
}

/** The word of each by which alone they differ; undefined: they differ by more, or by none. */
function wordsApart(written: string, known: string): readonly [string, string] | undefined {
  const [words, others] = [wordsOf(written), wordsOf(known)];
  if (words.length !== others.length) return undefined;
  const pairs = words.map((word, at) => [word, others[at] ?? ""] as const).filter(([word, other]) => word !== other);
  return pairs.length === 1 ? pairs[0] : undefined;
}

function joined(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();
}

/** Numbers and single letters count in rows, such as `eu-1` and `zone-b`. */
function wordsOf(text: string): string[] {
  const apart = text.replace(/(\p{Ll})(?=\p{Lu})/gu, "$1 ").toLowerCase();
  return apart.split(/[^\p{L}]+/u).filter((word) => word.length > 1);
}

/** `dev`, `eu` and their like differ from others by a letter: of so short a word only two that changed places are a slip. */
function isSlipOfWord(word: string, other: string): boolean {
  if (word.length < 4 && other.length < 4) return [...word].sort().join("") === [...other].sort().join("");
  return nearest(word, [other]) !== undefined;
}

/**
 * The file that was most likely meant by a path that none has: another spelling of it, the only one of its name in another folder, or
 * the one with its ending.
 */
export function nearPath(path: string, paths: readonly string[]): string | undefined {
  const ending = paths.find((one) => one === `${path}.yaml` || one === `${path}.yml`);
  if (ending !== undefined) return ending;
  const spelt = nearest(path, paths, (one) => isSpelt(path, one));
  if (spelt !== undefined) return spelt;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const [only, ...others] = paths.filter((one) => one === name || one.endsWith(`/${name}`));
  return others.length === 0 ? only : undefined;
}

/** One word of it is spelt otherwise; a path with another number is another file. */
function isSpelt(path: string, known: string): boolean {
  if (isSlip(path, known)) return true;
  const pair = wordsApart(path, known);
  return pair !== undefined && numbersOf(path) === numbersOf(known) && nearest(pair[0], [pair[1]]) !== undefined;
}

function numbersOf(path: string): string {
  return (path.match(/\d+/g) ?? []).join(" ");
}
