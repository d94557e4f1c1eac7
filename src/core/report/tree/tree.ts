import { epoch } from "../../base/time.ts";
import { isEnded, type Run } from "../../run/state/run.ts";
import { type NextView, nextOfRun } from "../reasons/next.ts";
import { sentenceOf } from "../reasons/say.ts";
import { unaskedNotes } from "../run/sign-of-life.ts";
import { releaseName, releaser, shortName } from "../words.ts";
import { mark, RUN_MARKS, shortAge, type Tone, type TreeNode, within } from "./tree-marks.ts";
import { runNode } from "./tree-nodes.ts";

interface TreeOptions {
  color: boolean;
  /** Columns of the terminal; lines are never longer. */
  width: number;
  /** Lines of the terminal, where there is one: the header stays whole, and the tree is folded and cut to what is left. */
  rows?: number;
  /** What Argo CD says of a target just now, by target key; shown before the reason. */
  live?: ReadonlyMap<string, string>;
}

const MAX_LINES = 40;
const GLYPHS = { run: "⟳", stage: "#", batch: "⧉", cluster: "⎈", application: "□", rollout: "⟳", gate: "◇" } as const;
const COLORS: Record<Tone, string> = { good: "32", busy: "36", warn: "33", bad: "31", dim: "2", plain: "" };

/** A line before it is laid out. */
interface Row {
  /** Branches of the tree, glyph and name. */
  lead: string;
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
  const shown = table(fitted(root, room), now, options);
  lines.push("", ...(options.rows === undefined ? shown : shortened(shown, room + 1)));
  return `${lines.join("\n")}\n`;
}

/** What even folding does not make fit is cut off at the end. */
function shortened(lines: string[], most: number): string[] {
  return lines.length <= most ? lines : [...lines.slice(0, most - 1), `… ${lines.length - most + 1} more lines`];
}

function header(run: Run, now: number, options: TreeOptions): string[] {
  const { icon, tone } = RUN_MARKS[run.phase];
  const room = options.width - 10;
  const line = (label: string, value: string, color: Tone = "plain") => {
    const name = label === "" ? " ".repeat(10) : paint(`${label}:`.padEnd(10), "dim", options);
    return `${name}${paint(cut(clean(value), room), color, options)}`;
  };
  // Why, and what to do, is read to its end.
  const sentence = (label: string, value: string, color: Tone = "plain") =>
    wrapped(clean(value), room).map((part, at) => line(at === 0 ? label : "", part, color));
  const end = run.endedAt === undefined ? now : epoch(run.endedAt);
  const took = `${isEnded(run) ? "took" : "running for"} ${shortAge(end - epoch(run.startedAt))}`;
  const pull = run.trigger.pull === undefined ? "" : ` · PR #${run.trigger.pull}`;
  const lines = [
    line("Run", `${run.rollout} #${run.number}`),
    line("Release", `${releaseName(run.release.values)}${pull} · by ${releaser(run)}`),
    line("Status", `${icon} ${run.phase} · ${took}`, tone),
    ...sentence("Why", sentenceOf(run.why, run)),
  ];
  if (run.paused !== undefined) lines.push(...sentence("Asks", sentenceOf(run.paused.ask, run), "warn"));
  for (const { plane, since, why } of run.unseen ?? [])
    lines.push(line("Unseen", `control plane ${plane} since ${since}: ${sentenceOf(why, run)}`, "warn"));
  for (const note of unaskedNotes(run.batches)) lines.push(...sentence("Note", note, "dim"));
  const next = nextOfRun(run);
  if (next !== undefined) lines.push(...sentence("Next", `${next.what}${nextWithin(next, now)}`));
  lines.push(`${paint("Progress: ", "dim", options)}${progress(run, options)}`);
  return lines;
}

/** When it is expected, or else when it counts as over: these are two things. */
function nextWithin({ eta, deadline }: NextView, now: number): string {
  if (eta !== undefined) return ` (${within(eta, now)})`;
  return deadline === undefined ? "" : ` (at the latest ${within(deadline, now)})`;
}

/** `━━━━━━━╸────  7/12 clusters · 1 failed · 2 skipped`. */
function progress(run: Run, options: TreeOptions): string {
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
  const length = Math.max(10, Math.min(30, options.width - 40));
  const filled = all.size === 0 ? 0 : Math.floor((done / all.size) * length);
  const bar = paint("━".repeat(filled), "good", options) + paint("─".repeat(length - filled), "dim", options);
  const words = [`${done}/${all.size} clusters`, failed > 0 ? `${failed} failed` : "", skipped > 0 ? `${skipped} skipped` : ""];
  return `${bar} ${words.filter(Boolean).join(" · ")}`;
}

function table(root: TreeNode, now: number, options: TreeOptions): string[] {
  const rows: Row[] = [];
  collect(root, "", "", rows);
  const full = Math.max(...rows.map((row) => row.lead.length + row.name.length), 4);
  const nameWidth = Math.min(full, Math.max(20, Math.floor(options.width * 0.5)));
  const statusWidth = Math.max(...rows.map((row) => row.node.status.length + 2), 6);
  const infoWidth = Math.max(0, options.width - nameWidth - statusWidth - 8 - 4);
  const head = `${"NAME".padEnd(nameWidth)}  ${"STATUS".padEnd(statusWidth)}  ${"AGE".padEnd(6)}  INFO`;
  const lines = [paint(cut(head, options.width), "dim", options)];
  for (const row of rows) {
    const name = cut(row.name, nameWidth - row.lead.length).padEnd(nameWidth - row.lead.length);
    const status = (row.node.status === "" ? "" : `${row.node.mark.icon} ${row.node.status}`).padEnd(statusWidth);
    const age = (row.node.since === undefined ? "" : shortAge(now - epoch(row.node.since))).padEnd(6);
    const tone = row.node.state === "later" ? "dim" : "plain";
    const cells = [paint(row.lead, "dim", options) + paint(name, tone, options), paint(status, row.node.mark.tone, options), age];
    lines.push(`${cells.join("  ")}  ${paint(cut(row.info, infoWidth), "dim", options)}`.trimEnd());
  }
  return lines;
}

function collect(node: TreeNode, lead: string, below: string, rows: Row[]): void {
  const glyph = node.name.startsWith("…") ? "" : `${GLYPHS[node.kind]} `;
  rows.push({ lead: `${lead}${glyph}`, name: clean(node.name), node, info: clean(node.info) });
  for (const [at, child] of node.children.entries()) {
    const last = at === node.children.length - 1;
    collect(child, `${below}${last ? "└─ " : "├─ "}`, `${below}${last ? "   " : "│  "}`, rows);
  }
}

/** Names and reasons come from outside: nothing in them may move the cursor or change a colour. */
function clean(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").trim();
}

/** At spaces, in at most four lines; a word that is longer than a line is cut with it. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && (lines.length >= MOST_LINES || last.length + 1 + word.length <= width))
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.length === 0 ? [""] : lines;
}

const MOST_LINES = 4;

function cut(text: string, width: number): string {
  if (text.length <= width) return text;
  return width <= 1 ? "" : `${text.slice(0, width - 1)}…`;
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

/** Folds step by step, until the tree has at most so many lines or there is nothing left to fold. */
function fitted(root: TreeNode, lines: number): TreeNode {
  const folding = (kind: TreeNode["kind"], state?: TreeNode["state"]) => (node: TreeNode) =>
    node.kind === kind && (state === undefined || node.state === state) ? fold(node) : undefined;
  const steps: ((node: TreeNode) => TreeNode | undefined)[] = [
    folding("stage", "done"),
    folding("batch", "later"),
    folding("batch", "done"),
    folding("stage", "later"),
    folding("application", "done"),
    (node) => (node.kind === "cluster" && node.children.length === 1 ? withApplication(node) : undefined),
    (node) => (node.children.length > 0 ? summed(node) : undefined),
    folding("batch"),
    folding("stage"),
  ];
  let tree = root;
  for (const step of steps) {
    if (size(tree) <= lines) return tree;
    tree = mapTree(tree, step);
  }
  return tree;
}

function mapTree(node: TreeNode, change: (node: TreeNode) => TreeNode | undefined): TreeNode {
  const changed = change(node) ?? node;
  return { ...changed, children: changed.children.map((child) => mapTree(child, change)) };
}

function size(node: TreeNode): number {
  return node.children.reduce((sum, child) => sum + size(child), 1);
}

function fold(node: TreeNode): TreeNode {
  return { ...node, children: [], info: [node.info, node.folded].filter(Boolean).join(" · ") };
}

/** One line for a cluster with one Application; its Rollouts stay below it. */
function withApplication(node: TreeNode): TreeNode {
  const [only] = node.children;
  return { ...node, children: only?.children ?? [], info: only?.info ?? node.info };
}

const SHOWN = 5;
const NOUNS: Partial<Record<TreeNode["kind"], string>> = { batch: "batches", cluster: "clusters", rollout: "Rollouts" };

/** Of many like children the failed ones and the first few are shown, the others counted by status. */
function summed(node: TreeNode): TreeNode {
  if (node.kind === "run" || node.children.length <= SHOWN + 2) return node;
  const worth = node.children.filter(
    (child) => child.status.startsWith("Failed") || child.mark.icon === "⚠" || (child.kind === "batch" && child.state === "now"),
  );
  const shown = new Set([...worth.slice(0, SHOWN), ...node.children].slice(0, Math.max(SHOWN, Math.min(worth.length, SHOWN))));
  const rest = node.children.filter((child) => !shown.has(child));
  const [first] = rest;
  if (first === undefined) return node;
  const counts = [...Map.groupBy(rest, (child) => child.status)].map(([status, those]) => `${those.length} ${status}`);
  const name = `… and ${rest.length} more ${NOUNS[first.kind] ?? "Applications"}`;
  const more = { ...first, since: undefined, name, status: "", info: counts.join(", "), children: [], mark: mark(" ", "dim") };
  return { ...node, children: [...node.children.filter((child) => shown.has(child)), more] };
}
