/** The bot's own Mermaid charts, drawn as a row of boxes with arrows between them: no library, no request, and read aloud in order. */
import type { Element, ElementContent } from "hast";

interface Box {
  lines: string[];
  /** What stands on the arrow that leads to it. */
  before?: string;
}

const NODE = /^(\w+)\["([^"]*)"\]$/;
const ARROW = /^(\w+) -->(?:\|"([^"]*)"\|)? ?(\w+)$/;

/** undefined: it is no row of boxes, and is shown as it is written. */
export function chartOf(text: string): Element | undefined {
  const [head, ...lines] = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  if (head !== "flowchart LR") return undefined;
  const boxes = new Map<string, Box>();
  const order: string[] = [];
  for (const line of lines) {
    const [, id, label = ""] = NODE.exec(line) ?? [];
    if (id !== undefined) {
      if (boxes.has(id)) return undefined;
      boxes.set(id, { lines: label.split("<br/>") });
      order.push(id);
      continue;
    }
    const [, from, between, to = ""] = ARROW.exec(line) ?? [];
    // Boxes in a row: each arrow leads to the next one.
    const box = boxes.get(to);
    if (from === undefined || box === undefined || order.indexOf(to) !== order.indexOf(from) + 1) return undefined;
    if (between !== undefined) box.before = between;
  }
  return order.length === 0 ? undefined : element("ol", "chart", [...boxes.values()].flatMap(boxItems));
}

function boxItems({ lines: [title = "", ...more], before }: Box, index: number): Element[] {
  const box = element("li", "box", [element("b", "", [words(title)]), ...more.map((line) => element("span", "", [words(line)]))]);
  if (index === 0) return [box];
  return [element("li", "arrow", [element("span", "", [words(before ?? "")])]), box];
}

function element(tagName: string, name: string, children: ElementContent[]): Element {
  return { type: "element", tagName, properties: name === "" ? {} : { className: [name] }, children };
}

function words(value: string): ElementContent {
  return { type: "text", value };
}
