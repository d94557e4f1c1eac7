import { defined } from "../../base/defined.ts";
import { cutToWidth, padToWidth, textWidth, wrapToWidth } from "../../base/text-width.ts";
import { epoch } from "../../base/time.ts";
import type { Run } from "../../run/state/run.ts";
import { countedWords } from "../counted.ts";
import type { LinkTo } from "../links.ts";
import { present } from "../markdown.ts";
import { stateWord } from "../model/labels.ts";
import { modelOf } from "../model/run-model.ts";
import type { Eta, ModelNode, RunModel } from "../model/types.ts";
import type { History } from "../plan/duration.ts";
import { valueRows } from "../values.ts";
import { markOf, shortAge, type Tone, type TreeNode, within } from "./tree-marks.ts";
import { fitTree, treeNode } from "./tree-nodes.ts";

interface TreeOptions {
  color: boolean;
  /** Columns of the terminal; lines are never longer. */
  width: number;
  /** Lines of the terminal, where there is one: the header stays whole, and the tree is folded and cut to what is left. */
  rows?: number;
  /** What Argo CD says of a target just now, by target key; shown before the reason. */
  live?: ReadonlyMap<string, string>;
  /** How long past runs of the rollout took. */
  history?: History;
  /** Where an Application is shown. */
  linkTo?: LinkTo;
  /** Nothing is folded or cut, however long the lines. */
  wide?: boolean;
}

const MAX_LINES = 40;
const GLYPHS = { run: "⟳", stage: "#", batch: "⧉", cluster: "⎈", application: "□", rollout: "⟳", check: "◇", controlPlane: "⎈" } as const;
const COLORS: Record<Tone, string> = { good: "32", busy: "36", warn: "33", bad: "31", dim: "2", plain: "" };

/** A line before it is laid out. */
interface Row {
  /** Branches of the tree, glyph and name. */
  lead: string;
  depth: number;
  name: string;
  node: TreeNode;
  info: string;
}

/**
 * A run as a terminal shows it: a header that says how it stands, why and what comes next, then the tree stage → batch →
 * cluster → Application. Over 40 lines, or more than the
 * terminal has room for, what is over or not begun is folded to counts first. Ends in a newline.
 */
export function renderTree(run: Run, now: number, options: TreeOptions): string {
  const model = modelOf(run, now, defined({ live: options.live, history: options.history, linkTo: options.linkTo }));
  const root = treeNode(model, now);
  const lines = header(model, now, options);
  // Below the header: an empty line, and the names of the columns.
  const room = Math.max(1, Math.min(MAX_LINES, (options.rows ?? Number.POSITIVE_INFINITY) - lines.length - 2));
  const shown = table(options.wide === true ? root : fitTree(root, room, model), now, options);
  lines.push("", ...(options.rows === undefined ? shown : shortened(shown, room + 1)));
  return `${lines.join("\n")}\n`;
}

/** What even folding does not make fit is cut off at the end. */
function shortened(lines: string[], most: number): string[] {
  return lines.length <= most ? lines : [...lines.slice(0, most - 1), `… ${lines.length - most + 1} more lines`];
}

function header(model: RunModel, now: number, options: TreeOptions): string[] {
  const { icon, tone } = markOf(model);
  const labels = options.width < NARROW ? 0 : 10;
  const room = Math.max(8, options.width - labels);
  // Why, and what to do, is read to its end. Where there is little room the label leads the text.
  const line = (label: string, value: string, color: Tone = "plain", most = 1) => {
    const said = labels === 0 && label !== "" ? `${label}: ${clean(value)}` : clean(value);
    const parts = most === 1 ? [said] : wrapToWidth(said, room, most);
    return parts.map((part, at) => {
      const name = labels === 0 ? "" : at > 0 || label === "" ? " ".repeat(labels) : paint(`${label}:`.padEnd(labels), "dim", options);
      return `${name}${paint(cutToWidth(part, room), color, options)}`;
    });
  };
  const sentence = (label: string, value: string, color: Tone = "plain") => line(label, value, color, labels === 0 ? 8 : 4);
  const { rollout, number, ask, wayBack, waitsFor, startedAt, endedAt, eta } = model;
  const took = `${endedAt === undefined ? "running for" : "took"} ${shortAge((endedAt === undefined ? now : epoch(endedAt)) - epoch(startedAt))}`;
  const why = sentence("Why", model.says);
  const cause = causeOf(model).flatMap((text) => sentence("Cause", text, "bad"));
  const lines = [
    ...line("Run", `${rollout} #${number}`),
    ...releaseLines(model).flatMap(([label, text]) => line(label, text)),
    ...line("Status", `${icon} ${stateWord(model)} · ${took}`, tone),
    ...(model.cause?.told === true ? [...why, ...cause] : [...cause, ...why]),
  ];
  if (ask !== undefined) lines.push(...sentence("Asks", ask.says, "warn"));
  if (wayBack !== undefined) lines.push(...sentence("Back", wayBack.says));
  for (const { name, since, says, facts } of model.controlPlanes)
    lines.push(
      ...sentence(
        "Unseen",
        `control plane ${present(name, since && `for ${shortAge(now - epoch(since))}`, says, ...facts).join(" · ")}`,
        "warn",
      ),
    );
  // It is about the evidence, of which there is more where it is wide.
  if (options.wide === true) for (const note of model.notes) lines.push(...sentence("Note", note, "dim"));
  if (waitsFor !== undefined) lines.push(...sentence("Next", `${waitsFor.says}${whenNext(model, now)}`));
  if (eta !== undefined) lines.push(...line("Done", expected(eta, now)));
  lines.push(...progress(model, options));
  return lines;
}

/** What is released, by whom; of several values a line each. */
function releaseLines({ release, values, pull, author }: RunModel): [label: string, text: string][] {
  const what = values === undefined ? release : `${values.length} values`;
  const rows = valueRows(values ?? []);
  const wide = Math.max(0, ...rows.map(([name = ""]) => textWidth(name)));
  return [
    ["Release", `${what}${pull === undefined ? "" : ` · PR #${pull}`} · by ${author}`],
    ...rows.map(([name = "", goes = ""], at): [string, string] => [at === 0 ? "Values" : "", `${padToWidth(name, wide)}  ${goes}`]),
  ];
}

function expected({ p50, p90 }: Eta, now: number): string {
  const [usual, slow] = [within(p50, now), within(p90, now)];
  return `about ${usual}${usual === slow ? "" : `, or ${slow} where it is slow`}`;
}

/** What Argo CD or a measurement says, where that is not what is said of the run anyway. */
function causeOf({ cause }: RunModel): string[] {
  if (cause === undefined) return [];
  const measured = (cause.measured ?? []).map(({ metric, value, limit }) =>
    [metric, value && `measured ${value}`, limit].filter(Boolean).join(", "),
  );
  const parts = [cause.name, measured.length > 0 ? measured.join("; ") : cause.says].filter((part) => part !== "");
  if (cause.told === true) return cause.link === undefined ? [] : [cause.link];
  return [`${parts.join(": ")}${cause.link === undefined ? "" : ` ${cause.link}`}`];
}

/** When it is expected, or else when it counts as over: these are two things. */
function whenNext({ waitsFor, deadline }: Pick<ModelNode, "waitsFor" | "deadline">, now: number): string {
  // A time that is over is none that anybody waits for.
  if (waitsFor?.at !== undefined && epoch(waitsFor.at) > now) return ` (${within(waitsFor.at, now)})`;
  return deadline === undefined || epoch(deadline) <= now ? "" : ` (at the latest ${within(deadline, now)})`;
}

/** `━━━━━━━╸────  7/12 clusters healthy · 1 failed · 2 skipped`; without the bar where there is no room for it. */
function progress({ counts, targetBy }: RunModel, options: TreeOptions): string[] {
  const { clusters, healthy, failed, skipped, requeued, toCome } = counts;
  const words = present(
    `${healthy}/${clusters} ${countedWords({ targetBy })} healthy`,
    failed > 0 && `${failed} failed`,
    requeued > 0 && `${requeued} requeued`,
    skipped > 0 && `${skipped} skipped`,
    toCome > 0 && `${toCome} to come`,
  ).join(" · ");
  const labels = "Progress: ".length;
  if (options.width < NARROW) return wrapToWidth(words, options.width, 3).map((part) => cutToWidth(part, options.width));
  const length = Math.max(5, Math.min(30, options.width - labels - 1 - textWidth(words)));
  const filled = clusters === 0 ? 0 : Math.floor((healthy / clusters) * length);
  const bar = paint("━".repeat(filled), "good", options) + paint("─".repeat(length - filled), "dim", options);
  return [`${paint("Progress: ", "dim", options)}${bar} ${cutToWidth(words, options.width - labels - 1 - length)}`];
}

function table(root: TreeNode, now: number, options: TreeOptions): string[] {
  const rows: Row[] = [];
  collect(root, "", "", rows);
  if (options.width < NARROW && options.wide !== true) return rows.map((row) => narrowLine(row, options));
  const full = Math.max(...rows.map((row) => textWidth(row.lead) + textWidth(row.name)), 4);
  const nameWidth = options.wide === true ? full : Math.min(full, Math.max(20, Math.floor(options.width * 0.5)));
  const statusWidth = Math.max(...rows.map((row) => textWidth(row.node.status) + 2), 6);
  const infoWidth = options.wide === true ? Number.POSITIVE_INFINITY : Math.max(0, options.width - nameWidth - statusWidth - 8 - 4);
  const head = `${"NAME".padEnd(nameWidth)}  ${"STATUS".padEnd(statusWidth)}  ${"AGE".padEnd(6)}  INFO`;
  const lines = [paint(cutToWidth(head, options.width), "dim", options)];
  for (const row of rows) {
    const room = nameWidth - textWidth(row.lead);
    const name = padToWidth(cutToWidth(row.name, room), room);
    const status = padToWidth(row.node.status === "" ? "" : `${row.node.mark.icon} ${row.node.status}`, statusWidth);
    const age = (row.node.since === undefined ? "" : shortAge(now - epoch(row.node.since))).padEnd(6);
    const tone = row.node.state === "later" ? "dim" : "plain";
    const cells = [paint(row.lead, "dim", options) + paint(name, tone, options), paint(status, row.node.mark.tone, options), age];
    lines.push(`${cells.join("  ")}  ${paint(cutToWidth(row.info, infoWidth), "dim", options)}`.trimEnd());
  }
  return lines;
}

/** Below it there is no room for columns: a line has the mark, the name and, where there is room, the status. */
const NARROW = 60;

function narrowLine({ depth, name, node }: Row, options: TreeOptions): string {
  const { icon, tone } = node.mark;
  const indent = " ".repeat(Math.min(depth, 4));
  const room = options.width - indent.length - 2;
  const shown = cutToWidth(name, room);
  const rest = room - textWidth(shown) - 2;
  const status = rest < 4 || node.status === "" ? "" : `  ${paint(cutToWidth(node.status, rest), tone, options)}`;
  return `${indent}${paint(icon, tone, options)} ${paint(shown, node.state === "later" ? "dim" : "plain", options)}${status}`;
}

function collect(node: TreeNode, lead: string, below: string, rows: Row[], depth = 0): void {
  const glyph = node.name.startsWith("…") ? "" : `${GLYPHS[node.kind]} `;
  rows.push({ lead: `${lead}${glyph}`, depth, name: clean(node.name), node, info: clean(node.info) });
  for (const [at, child] of node.children.entries()) {
    const last = at === node.children.length - 1;
    collect(child, `${below}${last ? "└─ " : "├─ "}`, `${below}${last ? "   " : "│  "}`, rows, depth + 1);
  }
}

/** Names and reasons come from outside: nothing in them may move the cursor or change a colour. */
function clean(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").trim();
}

/** Spaces at the end stay outside the colour, so that they can be trimmed. */
function paint(text: string, tone: Tone, options: TreeOptions): string {
  const color = COLORS[tone];
  const words = text.trimEnd();
  if (!options.color || color === "" || words === "") return text;
  return `\u001b[${color}m${words}\u001b[0m${text.slice(words.length)}`;
}

/** For a line elsewhere: `✔ Succeeded`, `॥ Waiting for @acme/sre`. */
export function statusWord(run: Pick<ModelNode, "state" | "tone" | "waitsOn">): string {
  return `${markOf({ ...run, when: "now" }).icon} ${stateWord(run)}`;
}
