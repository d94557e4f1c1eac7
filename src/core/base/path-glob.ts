/**
 * Globs over paths of a repo, as GitHub's path filters have them: `*` within one folder, `**` over folders, `?` one
 * character, `[ab]` one of them; a leading `!` takes paths out again. A pattern without a wildcard is one file, or all of a folder.
 */
export function pathMatcher(globs: readonly string[]): (path: string) => boolean {
  const rules = globs.map((glob) => ({ out: glob.startsWith("!"), matches: globMatcher(glob.replace(/^!/, "")) }));
  return (path) => {
    let matched = false;
    for (const { out, matches } of rules) if (matches(path)) matched = !out;
    return matched;
  };
}

/** Why a text is no glob; undefined where it is one. */
export function whyNoGlob(glob: string): "Empty" | "TooLong" | "Slash" | "Dots" | undefined {
  const bare = glob.replace(/^!/, "");
  if (bare === "") return "Empty";
  if (bare.length > 1000) return "TooLong";
  if (bare.startsWith("/")) return "Slash";
  if (bare.split("/").includes("..")) return "Dots";
  return undefined;
}

/** One step of a glob: a character, or how it takes several. */
type Token = { kind: "one"; takes: (character: string) => boolean } | { kind: "star" } | { kind: "stars" } | { kind: "folders" };

/** Walks all ways a glob can go at once, so that no glob and no path take more than the product of their lengths. */
function globMatcher(glob: string): (path: string) => boolean {
  const clean = glob.replace(/\/+$/, "").replace(/\*{3,}/g, "**");
  const tokens = tokensOf(/[*?[]/.test(clean) ? clean : `${clean}/**`);
  if (!/[*?[]/.test(clean)) {
    const below = run(tokens);
    return (path) => path === clean || below(path);
  }
  return run(tokens);
}

function run(tokens: readonly Token[]): (path: string) => boolean {
  return (path) => {
    let states = reach(tokens, new Set([0]), true);
    for (const character of path) {
      const next = new Set<number>();
      for (const at of states) {
        const token = tokens[at];
        if (token === undefined) continue;
        if (token.kind === "one" && token.takes(character)) next.add(at + 1);
        else if (token.kind === "stars" || token.kind === "folders" || (token.kind === "star" && character !== "/")) next.add(at);
      }
      if (next.size === 0) return false;
      states = reach(tokens, next, character === "/");
    }
    return states.has(tokens.length);
  };
}

/** Stars may take nothing; a `**` that stands for folders ends only where a path's part begins. */
function reach(tokens: readonly Token[], states: Set<number>, atPartStart: boolean): Set<number> {
  for (const at of states) {
    const kind = tokens[at]?.kind;
    if (kind === "star" || kind === "stars" || (kind === "folders" && atPartStart)) states.add(at + 1);
  }
  return states;
}

function tokensOf(glob: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < glob.length; ) {
    const [token, length] = tokenAt(glob, at);
    tokens.push(token);
    at += length;
  }
  return tokens;
}

function tokenAt(glob: string, at: number): [Token, number] {
  if (glob.startsWith("**/", at) && (at === 0 || glob[at - 1] === "/")) return [{ kind: "folders" }, 3];
  if (glob.startsWith("**", at)) return [{ kind: "stars" }, 2];
  const own = glob[at] ?? "";
  if (own === "*") return [{ kind: "star" }, 1];
  if (own === "?") return [{ kind: "one", takes: (character) => character !== "/" }, 1];
  const set = own === "[" ? /^\[(!?)([^\]/]+)\]/.exec(glob.slice(at)) : null;
  if (set === null) return [{ kind: "one", takes: (character) => character === own }, 1];
  const [whole, not, among = ""] = set;
  return [{ kind: "one", takes: (character) => character !== "/" && among.includes(character) === (not === "") }, whole.length];
}
