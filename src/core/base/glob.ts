/**
 * Globs of every program whose patterns are read here, matched by following all ways a pattern can go at once: no pattern and no text take
 * more than the product of their lengths. Which ways were open after which character is remembered, so that thousands of paths cost little.
 */
import { BoundedMap } from "./bounded.ts";

type Takes = (code: number) => boolean;

/** How one program reads patterns. A backslash takes the next character as it is, `[a-z]` is one of them, but where it is said otherwise. */
interface Dialect {
  /** What `*` and `?` take. */
  any: Takes;
  /** `**` takes slashes too: as a whole part of the path, or wherever it stands. */
  doubleStar?: "part" | "anywhere";
  /** Signs that make a `[…]` one of all others; without any, brackets mean nothing. */
  negations: string;
  /** A `[…]` may be a slash. */
  slashInClass?: true;
  /** `{a,b}` is one of several patterns. */
  braces?: true;
  /** There is no backslash, and a `[` that another one follows before it is closed is itself: each is looked behind only as far as the next. */
  lenient?: true;
}

const SLASH = 47;
const notSlash: Takes = (code) => code !== SLASH;
const anything: Takes = () => true;

const DIALECTS = {
  /** Go's `path.Match` (pkg.go.dev/path#Match): git directory generators, `manifest-generate-paths`, and the server's own configuration. */
  go: { any: notSlash, negations: "^", slashInClass: true },
  /** Git's pathspec (git-scm.com/docs/gitglossary): git file generators by default. */
  pathspec: { any: anything, negations: "^!", slashInClass: true },
  /** github.com/bmatcuk/doublestar: git file generators with Argo CD's new globbing. */
  doublestar: { any: notSlash, doubleStar: "part", negations: "^!", braces: true },
  /** github.com/gobwas/glob without separators: sync windows and policies of Argo CD. */
  gobwas: { any: anything, negations: "!", slashInClass: true, braces: true },
  /** GitHub's path and branch filters, and the paths of a release by commits. */
  paths: { any: notSlash, doubleStar: "anywhere", negations: "!", lenient: true },
  /** Hosts that may be asked: what a name of the DNS has, and nothing else is special. */
  hosts: { any: (code) => /[a-z0-9.-]/.test(String.fromCodePoint(code)), negations: "", lenient: true },
} as const satisfies Record<string, Dialect>;

/** A pattern longer than any path that Git or a file system takes matches nothing anybody means. */
const LONGEST = 10_000;
const [DEEPEST, MOST_IN_CLASS] = [50, 200];
/** Places of a pattern that are kept for the ways that were seen. */
const MOST_KEPT = 10_000;
const ASCII = 128;

/** Compiles a glob; undefined where it is malformed. `onStep` is told of each place of the pattern that is looked at. */
export function globMatcher(glob: string, dialect: keyof typeof DIALECTS, onStep?: () => void): ((text: string) => boolean) | undefined {
  const steps = glob.length > LONGEST ? undefined : readBranch({ glob, at: 0, dialect: DIALECTS[dialect] }, 0);
  if (steps === undefined) return undefined;
  const isSpecial = (step: Step) => typeof step !== "string";
  const first = steps.findIndex(isSpecial);
  const prefix = steps.slice(0, first === -1 ? steps.length : first).join("");
  if (first === -1) return (text) => text === prefix;
  const suffix = steps.slice(steps.findLastIndex(isSpecial) + 1).join("");
  const follow = follower(build(steps.slice(first), END, { count: 1 }), onStep);
  return (text) => text.startsWith(prefix) && text.endsWith(suffix) && follow(text, prefix.length);
}

const compiled = new BoundedMap<string, (text: string) => boolean>(200);

/** Says whether a text is as a glob says; nothing is as one that is malformed. The globs that were asked for last are kept. */
export function matchesGlob(glob: string, dialect: keyof typeof DIALECTS, text: string): boolean {
  const key = `${dialect} ${glob}`;
  const matches = compiled.get(key) ?? globMatcher(glob, dialect) ?? (() => false);
  if (!compiled.has(key)) compiled.set(key, matches);
  return matches(text);
}

/** A character as it is, one of some, any number of some, folders one behind the other, or one of several patterns. */
type Step = string | { one: Takes } | { many: Takes } | { folders: true } | { either: Step[][] };

type Cursor = { glob: string; at: number; dialect: Dialect };

/** Reads up to the end, or within braces up to the comma or brace that ends the branch. */
function readBranch(c: Cursor, depth: number): Step[] | undefined {
  const steps: Step[] = [];
  while (c.at < c.glob.length) {
    if (depth > 0 && ",}".includes(c.glob[c.at] ?? "")) return steps;
    const step = readStep(c, depth);
    if (step === undefined) return undefined;
    steps.push(step);
  }
  return depth === 0 ? steps : undefined;
}

function readStep(c: Cursor, depth: number): Step | undefined {
  const { dialect } = c;
  const sign = take(c);
  const next = c.at;
  if (sign === "*") return readStar(c);
  if (sign === "?") return { one: dialect.any };
  if (sign === "{" && dialect.braces === true) return readEither(c, depth);
  if (sign === "\\" && dialect.lenient !== true) return c.at < c.glob.length ? take(c) : undefined;
  const one = sign === "[" && dialect.negations !== "" ? readClass(c) : undefined;
  if (one !== undefined) return { one };
  c.at = next;
  return sign === "[" && dialect.lenient !== true ? undefined : sign;
}

/** Several stars are one, but for two where the dialect has them. */
function readStar(c: Cursor): Step {
  const { glob, dialect } = c;
  const opensPart = c.at === 1 || (dialect.braces === true ? "/{," : "/").includes(glob[c.at - 2] ?? "");
  let stars = 1;
  for (; glob[c.at] === "*"; c.at++) stars++;
  if (dialect.doubleStar === undefined || stars === 1 || (stars > 2 && dialect.doubleStar === "part")) return { many: dialect.any };
  const after = glob[c.at];
  if (opensPart && after === "/") {
    c.at++;
    return { folders: true };
  }
  const isPart = opensPart && (after === undefined || (dialect.braces === true && "},".includes(after)));
  return { many: isPart || dialect.doubleStar === "anywhere" ? anything : dialect.any };
}

function readEither(c: Cursor, depth: number): Step | undefined {
  const either: Step[][] = [];
  do {
    const branch = depth < DEEPEST ? readBranch(c, depth + 1) : undefined;
    if (branch === undefined) return undefined;
    either.push(branch);
  } while (take(c) === ",");
  return { either };
}

/** Reads a class behind its bracket. A `]` that comes first is one of its characters, and so is a `-` at either end. */
function readClass(c: Cursor): Takes | undefined {
  const { glob, dialect } = c;
  const negated = dialect.negations.includes(glob[c.at] ?? " ");
  if (negated) c.at++;
  const ranges: [number, number][] = [];
  while (c.at < glob.length && ranges.length < MOST_IN_CLASS) {
    if (glob[c.at] === "]" && ranges.length > 0) {
      c.at++;
      const isIn = (code: number) => ranges.some(([low, high]) => low <= code && code <= high);
      return (code) => (code !== SLASH || dialect.slashInClass === true) && isIn(code) !== negated;
    }
    if (dialect.lenient === true && glob[c.at] === "[") return undefined;
    const low = takeCode(c);
    const isRange = glob[c.at] === "-" && glob[c.at + 1] !== "]";
    if (isRange) c.at++;
    const high = isRange ? takeCode(c) : low;
    if (high < low) return undefined;
    ranges.push([low, high]);
  }
  return undefined;
}

function takeCode(c: Cursor): number {
  if (c.glob[c.at] === "\\" && c.dialect.lenient !== true) c.at++;
  return take(c).codePointAt(0) ?? 0;
}

function take(c: Cursor): string {
  const char = String.fromCodePoint(c.glob.codePointAt(c.at) ?? 0);
  c.at += char.length;
  return char;
}

/** A place in the pattern: what it takes to go on to the next, and which others are reached for nothing. */
interface Place {
  id: number;
  takes?: Takes | undefined;
  next?: Place | undefined;
  free: Place[];
}

const END: Place = { id: 0, free: [] };

/** Builds the places of steps from the last to the first, and returns the one where they begin. */
function build(steps: readonly Step[], end: Place, ids: { count: number }): Place {
  let then = end;
  const place = (free: Place[], takes?: Takes, next?: Place): Place => ({ id: ids.count++, takes, next, free });
  for (const step of steps.toReversed()) {
    if (typeof step === "string") then = place([], (code) => code === step.codePointAt(0), then);
    else if ("one" in step) then = place([], step.one, then);
    else if ("either" in step) then = place(step.either.map((branch) => build(branch, then, ids)));
    else if ("many" in step) {
      then = place([then], step.many);
      then.next = then;
    } else {
      // A folder is one or more characters and a slash; behind it stands the next, or what follows.
      then = place([then], notSlash);
      const within = place([place([], (code) => code === SLASH, then)], notSlash);
      then.next = within;
      within.next = within;
    }
  }
  return then;
}

/** All places that one beginning of a text may have led to, and where each next character leads. */
interface Reached {
  places: readonly Place[];
  next: (Reached | undefined)[];
  /** Whatever comes, the text matches. */
  always: boolean;
}

function endsAnyhow({ takes, free }: Place): boolean {
  return takes === anything && free.includes(END);
}

/** Follows texts through the places, from an offset on. What ASCII characters lead to is remembered, within bounds. */
function follower(first: Place, onStep: (() => void) | undefined): (text: string, from: number) => boolean {
  const kept = new Map<string, Reached>();
  let room = MOST_KEPT;
  const reach = (from: Iterable<Place>): Reached => {
    const all = new Set(from);
    for (const place of all) {
      onStep?.();
      for (const free of place.free) all.add(free);
    }
    const places = [...all].filter((place) => place === END || place.takes !== undefined);
    const key = places.map(({ id }) => id).join();
    const known = kept.get(key);
    if (known !== undefined) return known;
    const reached: Reached = { places, always: places.some(endsAnyhow), next: new Array(ASCII).fill(undefined) };
    room -= places.length + ASCII / 4;
    if (room < 0) {
      kept.clear();
      start.next.fill(undefined);
      room = MOST_KEPT;
    }
    kept.set(key, reached);
    return reached;
  };
  const start = reach([first]);
  return (text, from) => {
    let at = start;
    for (let offset = from; offset < text.length && !at.always; offset++) {
      const code = text.charCodeAt(offset);
      let next = at.next[code];
      if (next === undefined) {
        const whole = text.codePointAt(offset) ?? code;
        if (whole > 0xffff) offset++;
        next = reach(at.places.flatMap((place) => (place.next !== undefined && place.takes?.(whole) === true ? place.next : [])));
        if (code < ASCII) at.next[code] = next;
      }
      if (next.places.length === 0) return false;
      at = next;
    }
    return at.always || at.places.includes(END);
  };
}
