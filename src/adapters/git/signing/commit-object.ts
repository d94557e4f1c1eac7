import type { CommitInfo } from "../port.ts";

/** Characters of what stands before the message: a signature is a few thousand of them, and stands last. */
const LONGEST_HEAD = 64 * 1024;
/** Characters. Of a message that is longer only the subject is read. */
const LONGEST_MESSAGE = 256 * 1024;
const LONGEST_SUBJECT = 4096;

/** A commit as it lies in the object store, parsed. `at` is the committer's time, whole seconds. */
export function parseCommit(sha: string, body: Buffer): CommitInfo & { tree: string } {
  const text = body.toString("utf8");
  const split = text.indexOf("\n\n");
  const head = (split < 0 ? text : text.slice(0, split)).slice(0, LONGEST_HEAD);
  const message = split < 0 ? "" : text.slice(split + 2);
  const info = { sha, tree: "", parents: [] as string[], author: "", authorEmail: "", at: 0 };
  for (const line of head.split("\n")) {
    const space = line.indexOf(" ");
    const value = line.slice(space + 1);
    switch (line.slice(0, space)) {
      case "tree":
        info.tree = value;
        break;
      case "parent":
        info.parents.push(value);
        break;
      case "author":
        info.author = person(value).name;
        info.authorEmail = person(value).email;
        break;
      case "committer":
        info.at = person(value).at;
        break;
    }
  }
  return { ...info, ...parseMessage(message) };
}

/** Subject: the first paragraph on one line, as `git log --format=%s` has it, up to 4,096 characters. */
function parseMessage(message: string): { subject: string; body: string } {
  const text = message.replace(/^\n+/, "");
  const end = text.indexOf("\n\n");
  const first = (end === -1 ? text : text.slice(0, end)).slice(0, LONGEST_SUBJECT);
  const body =
    end === -1 || text.length > LONGEST_MESSAGE
      ? ""
      : text
          .slice(end)
          .replace(/\n{2,}/g, "\n\n")
          .slice(2);
  return { subject: first.trim().replaceAll("\n", " "), body: body.trimEnd() };
}

function person(value: string): { name: string; email: string; at: number } {
  const open = value.indexOf("<");
  const close = value.indexOf(">", open);
  if (open === -1 || close === -1) return { name: "", email: "", at: 0 };
  const name = value.slice(0, open).replace(/ $/, "");
  return { name, email: value.slice(open + 1, close), at: Number(/^ ?(-?\d+)/.exec(value.slice(close + 1))?.[1] ?? 0) * 1000 };
}

/** Nobody who writes some writes more. */
const LONGEST_TRAILERS = 64 * 1024;

/** `Key: value` lines of a message's last paragraph. A key given twice has its values joined by `, `. */
export function parseTrailers(body: string): Record<string, string> {
  const last = body.split(/\n{2,}/).at(-1) ?? "";
  const trailers: Record<string, string> = {};
  if (last.length > LONGEST_TRAILERS) return trailers;
  for (const line of last.split("\n")) {
    const found = /^([A-Za-z][A-Za-z0-9-]*): (.*)$/.exec(line);
    if (found === null) continue;
    const [, key = "", value = ""] = found;
    const before = Object.hasOwn(trailers, key) ? trailers[key] : undefined;
    trailers[key] = before === undefined ? value : `${before}, ${value}`;
  }
  return trailers;
}
