/** What a person reads on the page, a line for each block: its script runs on a document that has only what the script calls. */
import { createContext, runInContext } from "node:vm";
import { PAGE_SCRIPT } from "../page.ts";
import type { WebState } from "../server.ts";

const BLOCKS: ReadonlySet<string> = new Set(["article", "section", "div", "p", "h2", "h3", "small", "ul", "li"]);

/** Beside each other, with room between them. */
const SET_APART: ReadonlySet<string> = new Set(["span", "time", "code"]);

class Element {
  readonly tag: string;
  readonly attributes = new Map<string, string>();
  readonly style = { cssText: "" };
  children: (Element | string)[] = [];
  innerHTML = "";

  constructor(tag: string) {
    this.tag = tag;
  }

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, String(value));
  }

  append(...children: (Element | string)[]): void {
    this.children.push(...children.map((child) => (child instanceof Element ? child : String(child))));
  }

  replaceChildren(...children: (Element | string)[]): void {
    this.children = [];
    this.append(...children);
  }

  set textContent(text: string) {
    this.children = [text];
  }
}

/** Draws one state, as `/api/events` sends it. */
export function pageText(state: WebState): string {
  const places = new Map<string, Element>();
  const placeOf = (id: string) => {
    const place = places.get(id) ?? new Element("div");
    places.set(id, place);
    return place;
  };
  const opened: { onmessage?: (message: { data: string }) => void }[] = [];
  const document = {
    getElementById: placeOf,
    createElement: (tag: string) => new Element(tag),
    createElementNS: (_: string, tag: string) => new Element(tag),
    querySelectorAll: () => [],
    activeElement: null,
  };
  class EventSource {
    constructor() {
      opened.push(this);
    }
  }
  runInContext(PAGE_SCRIPT, createContext({ document, EventSource, performance: { now: () => 0 }, setInterval: () => 0 }));
  opened[0]?.onmessage?.({ data: JSON.stringify(state) });
  return linesOf(placeOf("runs"), 0).join("\n");
}

/** What stands in a line of its own, and below it, further in, the blocks inside. */
function linesOf(element: Element, depth: number): string[] {
  const isBlock = (child: Element | string): child is Element => child instanceof Element && BLOCKS.has(child.tag);
  const own = element.children.filter((child) => !isBlock(child)).map(inlineOf);
  const line = own.join("").replace(/\s+/g, " ").trim();
  const title = element.attributes.get("title") ?? (line === "" ? (element.attributes.get("aria-label") ?? "") : "");
  const said = title === "" ? line : `${line} {${title.replaceAll("\n", " | ")}}`;
  const below = element.children
    .filter(isBlock)
    .flatMap((child) => linesOf(child, said === "" && element.tag !== "section" ? depth : depth + 1));
  return [...(said === "" ? [] : [`${"  ".repeat(depth)}${said.trim()}`]), ...below];
}

function inlineOf(child: Element | string): string {
  if (typeof child === "string") return child;
  if (child.tag === "svg") return `(${child.attributes.get("class")?.replace("dot c-", "")}) `;
  const href = child.attributes.get("href");
  const text = child.children.map(inlineOf).join("");
  return `${text}${href === undefined ? "" : ` <${href}>`}${SET_APART.has(child.tag) ? " " : ""}`;
}
