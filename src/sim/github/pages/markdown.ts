/**
 * Markdown as GitHub draws it, for the pages: tables, task lists and the little HTML that GitHub lets through. Whoever wrote it is a
 * stranger: everything is rebuilt as a tree and cleaned by GitHub's own list, so nothing of it can leave its place or load anything.
 */
import type { Element, ElementContent, Root as HastRoot, Nodes } from "hast";
import { raw as parseHtml } from "hast-util-raw";
import { defaultSchema, sanitize } from "hast-util-sanitize";
import { toHtml } from "hast-util-to-html";
import { raw } from "hono/html";
import type { Link, Root } from "mdast";
import { findAndReplace } from "mdast-util-find-and-replace";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { toHast } from "mdast-util-to-hast";
import { gfm } from "micromark-extension-gfm";
import { chartOf } from "./chart.ts";
import { type Html, html, type RepoView, repoPath } from "./frame.ts";

/** Where a text stands, for what it names without an address. */
interface Place {
  /** `/acme/fleet`. */
  repository: string;
  /** `main/docs`: what relative links start from. */
  folder: string;
  /** Whether there is an account of that name. */
  isLogin(login: string): boolean;
}

/** Of a text in this repository; links of a file start from its folder. */
export function placeOf({ world, repo }: RepoView, folder: string = repo.defaultBranch): Place {
  return { repository: repoPath(repo), folder, isLogin: (login) => world.users.has(login.toLowerCase()) };
}

/** A parser takes time with the square of some texts. */
const LONGEST = 70_000;
const TOO_DEEP = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$))){12}/m;
/** Marks that may pair up, in one paragraph or table. */
const MARKS = /[*_~`[\]<!]/g;
const MOST_MARKS = 3000;
const MOST_KEPT = 300;
/** The pages are read again every other second while texts change seldom. */
const kept = new Map<string, string>();

export function markdown(text: string, place: Place): Html {
  const key = `${place.repository} ${place.folder} ${text}`;
  const known = kept.get(key) ?? drawn(text, place);
  kept.delete(key);
  kept.set(key, known);
  for (const oldest of kept.keys()) {
    if (kept.size <= MOST_KEPT) break;
    kept.delete(oldest);
  }
  return raw(known);
}

/** What is too long or too deep to be drawn stays as it was written. */
function drawn(text: string, place: Place): string {
  const plain = () => String(html`<pre>${text}</pre>`);
  if (isTooCostly(text)) return plain();
  try {
    return draw(text, place);
  } catch (error) {
    if (error instanceof RangeError) return plain();
    throw error;
  }
}

function isTooCostly(text: string): boolean {
  if (text.length > LONGEST || TOO_DEEP.test(text)) return true;
  return text.split(/\n[ \t]*\n/).some((block) => (block.match(MARKS)?.length ?? 0) > MOST_MARKS);
}

function draw(text: string, place: Place): string {
  const tree = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  linkNames(tree, place);
  const whole = parseHtml(toHast(tree, { allowDangerousHtml: true }));
  return toHtml(finished(sanitize(whole, defaultSchema), place));
}

/** `#3`, `@alice` and ids of commits lead somewhere on GitHub. */
function linkNames(tree: Root, { repository, isLogin }: Place): void {
  const to = (url: string, value: string): Link => ({ type: "link", url, children: [{ type: "text", value }] });
  findAndReplace(
    tree,
    [
      [/(?<![\w#&/])#(\d{1,9})\b/g, (all: string, number: string) => to(`${repository}/issues/${number}`, all)],
      [/(?<![\w@/.])@([a-z\d][a-z\d-]{0,38})/gi, (all: string, login: string) => (isLogin(login) ? to(`/${login}`, all) : false)],
      [/\b[0-9a-f]{40}\b/g, (sha: string) => to(`${repository}/commit/${sha}`, sha.slice(0, 7))],
    ],
    { ignore: ["link", "linkReference"] },
  );
}

/** Charts drawn, pictures as links since nothing is loaded from elsewhere, and links that lead where they say. */
function finished(node: Nodes, place: Place): Nodes {
  if (!("children" in node)) return node;
  const children = node.children.map((child) => finishedChild(child as ElementContent, place));
  return { ...node, children } as HastRoot | Element;
}

function finishedChild(node: ElementContent, place: Place): ElementContent {
  if (node.type !== "element") return node;
  const chart = node.tagName === "pre" ? chartIn(node) : undefined;
  if (chart !== undefined) return chart;
  if (node.tagName === "img") return anchor(String(node.properties["src"] ?? ""), String(node.properties["alt"] || "picture"), place);
  const whole = node.tagName === "blockquote" ? alertIn(finished(node, place) as Element) : (finished(node, place) as Element);
  if (node.tagName !== "a" || typeof node.properties["href"] !== "string") return whole;
  return { ...whole, properties: { ...whole.properties, ...address(node.properties["href"], place) } };
}

function anchor(href: string, label: string, place: Place): Element {
  return { type: "element", tagName: "a", properties: address(href, place), children: [{ type: "text", value: label }] };
}

/** A relative link of a text is one of its repository's files. */
function address(href: string, { repository, folder }: Place): { href: string; rel?: string[] } {
  if (/^(?:https?:|mailto:)/i.test(href)) return { href, rel: ["noreferrer", "nofollow"] };
  if (/^[#/?]/.test(href)) return { href };
  const { pathname, hash } = new URL(href, `http://here${repository}/blob/${folder}/`);
  return { href: `${pathname}${hash}` };
}

const ALERT = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*/;

/** `> [!WARNING]` is a box with that title. */
function alertIn(quote: Element): Element {
  const at = quote.children.findIndex((child) => child.type === "element");
  const paragraph = quote.children[at];
  const text = paragraph?.type === "element" ? paragraph.children[0] : undefined;
  const [mark, name = ""] = (text?.type === "text" && ALERT.exec(text.value)) || [];
  if (mark === undefined || text?.type !== "text" || paragraph?.type !== "element") return quote;
  const title: Element = {
    type: "element",
    tagName: "strong",
    properties: {},
    children: [{ type: "text", value: `${name[0]}${name.slice(1).toLowerCase()}` }],
  };
  const rest: Element = {
    ...paragraph,
    children: [{ type: "text", value: text.value.slice(mark.length) }, ...paragraph.children.slice(1)],
  };
  const properties = { className: ["alert", name.toLowerCase()] };
  return { type: "element", tagName: "div", properties, children: [title, rest, ...quote.children.slice(at + 1)] };
}

function chartIn(pre: Element): Element | undefined {
  const [code] = pre.children;
  if (code?.type !== "element" || code.tagName !== "code") return undefined;
  const classes = code.properties["className"];
  if (!Array.isArray(classes) || !classes.includes("language-mermaid")) return undefined;
  return chartOf(code.children.map((child) => (child.type === "text" ? child.value : "")).join(""));
}
