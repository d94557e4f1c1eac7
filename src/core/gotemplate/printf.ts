import {
  entry,
  formatFloat,
  formatValue,
  GoInt,
  type GoValue,
  isMap,
  sortedKeys,
  TemplateError,
  typeName,
  UnsupportedError,
} from "./value.ts";

interface Verb {
  flags: string;
  width: number;
  precision: number | undefined;
  verb: string;
}

const VERB = /%([-+# 0]*)(\d*)(?:\.(\d*))?([\s\S]?)/gu;

/** Go's fmt.Sprintf, its complaints about wrong verbs included. */
export function sprintf(format: string, args: readonly GoValue[]): string {
  let used = 0;
  const result = format.replace(VERB, (whole, flags: string, width: string, precision: string | undefined, verb: string) => {
    if (verb === "%") return "%";
    if (verb === "") return "%!(NOVERB)";
    if (verb === "*" || verb === "[" || flags.includes("#")) throw new UnsupportedError("printf", `printf does not support ${whole}`);
    if (used >= args.length) return `%!${verb}(MISSING)`;
    const value = args[used++];
    return formatArg(value, {
      flags,
      width: Number(width || "0"),
      precision: precision === undefined ? undefined : Number(precision || "0"),
      verb,
    });
  });
  if (used >= args.length) return result;
  const extra = args
    .slice(used)
    .map((value) => (value === undefined || value === null ? "<nil>" : `${typeName(value)}=${formatValue(value)}`));
  return `${result}%!(EXTRA ${extra.join(", ")})`;
}

/** Go's fmt.Sprint: a space between two operands when neither is text. */
export function sprint(args: readonly GoValue[]): string {
  let result = "";
  args.forEach((value, index) => {
    const apart = index > 0 && typeof value !== "string" && typeof args[index - 1] !== "string";
    result += (apart ? " " : "") + formatValue(value);
  });
  return result;
}

function formatArg(value: GoValue, verb: Verb): string {
  if (verb.verb === "T") return pad(typeName(value), verb);
  if (value === undefined || value === null) return verb.verb === "v" ? pad("<nil>", verb) : `%!${verb.verb}(<nil>)`;
  if (Array.isArray(value)) return `[${value.map((item) => formatItem(item, verb)).join(" ")}]`;
  if (isMap(value)) {
    const pairs = sortedKeys(value).map((key) => `${formatArg(key, verb)}:${formatItem(entry(value, key), verb)}`);
    return `map[${pairs.join(" ")}]`;
  }
  const text = scalar(value, verb);
  if (text !== undefined) return text;
  if (verb.width > 0 || verb.precision !== undefined || verb.flags !== "")
    throw new UnsupportedError("printf", `printf does not support %${verb.verb} of ${typeName(value)}`);
  return `%!${verb.verb}(${typeName(value)}=${formatValue(value)})`;
}

/** Within a list or map nil is written alike for every verb. */
function formatItem(value: GoValue, verb: Verb): string {
  return value === undefined || value === null ? "<nil>" : formatArg(value, verb);
}

/** undefined: the verb does not fit the type. */
function scalar(value: GoValue, verb: Verb): string | undefined {
  if (typeof value === "string") return ofText(value, verb);
  if (value instanceof GoInt) return ofInt(value.value, verb);
  if (typeof value === "number") return ofFloat(value, verb);
  if (typeof value === "boolean") return verb.verb === "t" || verb.verb === "v" ? pad(String(value), verb) : undefined;
  return verb.verb === "s" || verb.verb === "v" ? pad(formatValue(value), verb) : undefined;
}

function ofText(value: string, verb: Verb): string | undefined {
  const cut = verb.precision === undefined ? value : [...value].slice(0, verb.precision).join("");
  if (verb.verb === "s" || verb.verb === "v") return pad(cut, verb);
  if (verb.verb === "q") return pad(quoted(cut), verb);
  if (verb.verb !== "x" && verb.verb !== "X") return undefined;
  const hex = [...new TextEncoder().encode(cut)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return pad(verb.verb === "X" ? hex.toUpperCase() : hex, verb);
}

const BASES: Record<string, number> = { d: 10, v: 10, x: 16, X: 16, o: 8, b: 2 };

function ofInt(value: number, verb: Verb): string | undefined {
  if (verb.verb === "c" && (value < 0 || value > 0x10ffff))
    throw new UnsupportedError("printf", "printf does not support %c of what is no character");
  if (verb.verb === "c") return pad(String.fromCodePoint(value), verb);
  if (verb.verb === "q") throw new UnsupportedError("printf", "printf does not support %q of an integer");
  const base = BASES[verb.verb];
  if (base === undefined) return undefined;
  const digits = Math.abs(value)
    .toString(base)
    .padStart(verb.precision ?? 0, "0");
  return pad(signed(value < 0, verb.verb === "X" ? digits.toUpperCase() : digits, verb), verb, true);
}

function ofFloat(value: number, verb: Verb): string | undefined {
  const size = Math.abs(value);
  const negative = value < 0 || Object.is(value, -0);
  switch (verb.verb) {
    case "f":
    case "F":
      if (size >= 1e21) throw new UnsupportedError("printf", "printf does not support %f of so large a number");
      return pad(signed(negative, size.toFixed(verb.precision ?? 6), verb), verb, true);
    case "e":
      return pad(signed(negative, size.toExponential(verb.precision ?? 6).replace(/e([+-])(\d)$/, "e$10$2"), verb), verb, true);
    case "g":
    case "v":
      if (verb.precision !== undefined) throw new UnsupportedError("printf", `printf does not support a precision of %${verb.verb}`);
      return pad(signed(negative, formatFloat(size), verb), verb, true);
    case "x":
    case "X":
      throw new UnsupportedError("printf", "printf does not support %x of a float");
    default:
      return undefined;
  }
}

function signed(negative: boolean, digits: string, verb: Verb): string {
  if (negative) return `-${digits}`;
  if (verb.flags.includes("+")) return `+${digits}`;
  return verb.flags.includes(" ") ? ` ${digits}` : digits;
}

function pad(text: string, verb: Verb, numeric = false): string {
  const missing = verb.width - [...text].length;
  if (missing <= 0) return text;
  if (verb.flags.includes("-")) return text + " ".repeat(missing);
  if (!verb.flags.includes("0")) return " ".repeat(missing) + text;
  if (!numeric) return "0".repeat(missing) + text;
  const sign = /^[-+ ]/.exec(text)?.[0] ?? "";
  return sign + "0".repeat(missing) + text.slice(sign.length);
}

const SHORT: Record<string, string> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  '"': '\\"',
  "\\": "\\\\",
};

/** Go's %q and strconv.Quote. */
export function quoted(text: string): string {
  let result = "";
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    const short = SHORT[char];
    if (short !== undefined) result += short;
    else if (code < 0x20 || code === 0x7f) result += `\\x${code.toString(16).padStart(2, "0")}`;
    else if (code > 0x7f && !/[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(char))
      result += code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
    else result += char;
  }
  return `"${result}"`;
}

/** Go cuts text by bytes: what would cut a character in two is refused. */
export function sliceBytes(text: string, start: number, end: number, name: string): string {
  if (!/[\u0080-\uffff]/.test(text)) return text.slice(start, end);
  const bytes = new TextEncoder().encode(text).slice(start, end);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UnsupportedError(name, `${name} would cut a character of ${JSON.stringify(text)} in two`);
  }
}

export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** An index out of range is a panic in Go. */
export function checkRange(start: number, end: number, length: number): void {
  if (start < 0 || end > length || start > end)
    throw new TemplateError(`slice bounds out of range [${start}:${end}] with length ${length}`);
}
