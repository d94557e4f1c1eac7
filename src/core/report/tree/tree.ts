import { cutToWidth, padToWidth, textWidth } from "../../base/text-width.ts";
import { epoch } from "../../base/time.ts";
import { isEnded, type Run } from "../../run/state/run.ts";
import { type NextView, nextOfRun } from "../reasons/next.ts";
import { sentenceOf } from "../reasons/say.ts";
import { unaskedNotes } from "../run/sign-of-life.ts";
import { releaseName, releaser, shortName } from "../words.ts";
import { fitted } from "./tree-fold.ts";
import { RUN_MARKS, shortAge, type Tone, type TreeNode, within } from "./tree-marks.ts";
import { runNode } from "./tree-nodes.ts";

interface TreeOptions {
  color: boolean;
  /** Columns of the terminal; lines are never longer. */
  width: number;
  /** Lines of the terminal, where there is one: the header stays whole, and the tree is folded and cut to what is left. */
  rows?: number;
  /** What Argo CD says of a target just now, by target key; shown before the reason. */
  live?: ReadonlyMap<string, string>;
  /** Nothing is folded or cut, however long the lines. */
  wide?: boolean;
}

const MAX_LINES = 40;
const GLYPHS = { run: "⟳", stage: "#", batch: "⧉", cluster: "⎈", application: "□", rollout: "⟳", gate: "◇" } as const;
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
  const root = runNode(run, now, options.live);
  const lines = header(run, now, options);
  // Below the header: an empty line, and the names of the columns.
  const room = Math.max(1, Math.min(MAX_LINES, (options.rows ?? Number.POSITIVE_INFINITY) - lines.length - 2));
  const shown = table(options.wide === true ? root : fitted(root, room), now, options);
  lines.push("", ...(options.rows === undefined ? shown : shortened(shown, room + 1)));
  return `${lines.join("\n")}\n`;
}

/** What even folding does not make fit is cut off at the end. */
function shortened(lines: string[], most: number): string[] {
  return lines.length <= most ? lines : [...lines.slice(0, most - 1), `… ${lines.length - most + 1} more lines`];
}

function header(run: Run, now: number, options: TreeOptions): string[] {
  const { icon, tone } = RUN_MARKS[run.phase];
  const labels = options.width < NARROW ? 0 : 10;
  const room = Math.max(8, options.width - labels);
  // Why, and what to do, is read to its end. Where there is little room the label leads the text.
  const line = (label: string, value: string, color: Tone = "plain", most = 1) => {
    const said = labels === 0 && label !== "" ? `${label}: ${clean(value)}` : clean(value);
    const parts = most === 1 ? [said] : wrapped(said, room, most);
    return parts.map((part, at) => {
      const name = labels === 0 ? "" : at > 0 ? " ".repeat(labels) : paint(`${label}:`.padEnd(labels), "dim", options);
      return `${name}${paint(cutToWidth(part, room), color, options)}`;
    });
  };
  const sentence = (label: string, value: string, color: Tone = "plain") => line(label, value, color, labels === 0 ? 8 : 4);
  const end = run.endedAt === undefined ? now : epoch(run.endedAt);
  const took = `${isEnded(run) ? "took" : "running for"} ${shortAge(end - epoch(run.startedAt))}`;
  const pull = run.trigger.pull === undefined ? "" : ` · PR #${run.trigger.pull}`;
  const lines = [
    ...line("Run", `${run.rollout} #${run.number}`),
    ...line("Release", `${releaseName(run.release.values)}${pull} · by ${releaser(run)}`),
    ...line("Status", `${icon} ${run.phase} · ${took}`, tone),
    ...sentence("Why", sentenceOf(run.why, run)),
  ];
  if (run.paused !== undefined) lines.push(...sentence("Asks", sentenceOf(run.paused.ask, run), "warn"));
  for (const { plane, since, why } of run.unseen ?? [])
    lines.push(...line("Unseen", `control plane ${plane} since ${since}: ${sentenceOf(why, run)}`, "warn"));
  for (const note of unaskedNotes(run.batches)) lines.push(...sentence("Note", note, "dim"));
  const next = nextOfRun(run);
  if (next !== undefined) lines.push(...sentence("Next", `${next.what}${nextWithin(next, now)}`));
  lines.push(...progress(run, options));
  return lines;
}

/** When it is expected, or else when it counts as over: these are two things. */
function nextWithin({ eta, deadline }: NextView, now: number): string {
  if (eta !== undefined) return ` (${within(eta, now)})`;
  return deadline === undefined ? "" : ` (at the latest ${within(deadline, now)})`;
}

/** `━━━━━━━╸────  7/12 clusters · 1 failed · 2 skipped`; without the bar where there is no room for it. */
function progress(run: Run, options: TreeOptions): string[] {
  const all = new Set<string>();
  for (const stage of run.plan.stages) for (const cluster of [...stage.clusters, ...stage.requeued]) all.add(cluster);
  const state = new Map<string, "done" | "failed" | "open">();
  for (const { phase: batchPhase, targets } of run.batches) {
    if (batchPhase === "Closed") continue;
    for (const { cluster, phase } of targets) {
      all.add(cluster);
      // Put off to a later batch, which counts.
      if (phase === "Requeued" || phase === "RolledBack") continue;
      const before = state.get(cluster);
      const here = phase === "Failed" ? "failed" : phase === "Baked" ? "done" : "open";
      state.set(
        cluster,
        before === undefined || before === "done" ? here : before === "failed" ? before : here === "failed" ? here : before,
      );
    }
  }
  const count = (wanted: string) => [...state.values()].filter((value) => value === wanted).length;
  const [done, failed, skipped] = [count("done"), count("failed"), run.skipped.length];
  const words = [`${done}/${all.size} clusters`, failed > 0 ? `${failed} failed` : "", skipped > 0 ? `${skipped} skipped` : ""]
    .filter(Boolean)
    .join(" · ");
  if (options.width < NARROW) return wrapped(words, options.width, 3).map((part) => cutToWidth(part, options.width));
  const length = Math.max(10, Math.min(30, options.width - 40));
  const filled = all.size === 0 ? 0 : Math.floor((done / all.size) * length);
  const bar = paint("━".repeat(filled), "good", options) + paint("─".repeat(length - filled), "dim", options);
  return [`${paint("Progress: ", "dim", options)}${bar} ${words}`];
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

/** At spaces, in at most so many lines; what is too long for the last of them is cut with it. */
function wrapped(text: string, width: number, most: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && (lines.length >= most || textWidth(last) + 1 + textWidth(word) <= width))
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.length === 0 ? [""] : lines;
}

/** Spaces at the end stay outside the colour, so that they can be trimmed. */
function paint(text: string, tone: Tone, options: TreeOptions): string {
  const color = COLORS[tone];
  const words = text.trimEnd();
  if (!options.color || color === "" || words === "") return text;
  return `\u001b[${color}m${words}\u001b[0m${text.slice(words.length)}`;
}

/** For a line elsewhere: `✔ Succeeded`, with the cluster it is about where there is one. */
export function statusWord(run: Pick<Run, "phase">, cluster?: string): string {
  const words = `${RUN_MARKS[run.phase].icon} ${run.phase}`;
  return cluster === undefined ? words : `${words} ${shortName(cluster)}`;
}
