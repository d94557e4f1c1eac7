/**
 * The pictures of README.md, drawn from what the program prints: the plan of the sample, and a run of it that paused on a failure, both by
 * the real core. Part of `npm run generate`, so a test fails where they are not what is printed now.
 */
import { readFileSync } from "node:fs";
import { readInventory } from "../src/core/argocd/inventory-file.ts";
import { textWidth } from "../src/core/base/text-width.ts";
import { renderTree } from "../src/core/report/tree/tree.ts";
import type { Run } from "../src/core/run/state/run.ts";
import { simulate } from "../src/simulate/plan/simulate.ts";
import { openCheckout } from "../src/surfaces/cli/lint/lint-checkout.ts";
import { rolloutFilesIn } from "../src/surfaces/cli/lint/lint-run.ts";
import { pickRollout } from "../src/surfaces/cli/plan/plan-args.ts";
import { makePlan } from "../src/surfaces/cli/plan/plan-make.ts";
import { toText } from "../src/surfaces/cli/plan/plan-show.ts";
import { parseFaults } from "../src/surfaces/cli/simulate/simulate-options.ts";

const FLEET = new URL("../fixtures/fleet", import.meta.url).pathname;
const COLUMNS = 104;

/** A run of the sample that paused on a failure; `now` is a moment later. Docs show it, and their commands are run on it. */
export function pausedRun() {
  const checkout = openCheckout(FLEET);
  const rollout = pickRollout(checkout, rolloutFilesIn(checkout), "my-app");
  const inventory = readInventory(readFileSync(`${FLEET}/inventory.yaml`, "utf8"), "inventory.yaml");
  const made = rollout && makePlan(rollout, checkout, inventory, { version: "v1.4.2" });
  if (rollout === undefined || made?.plan === undefined) throw new Error("the sample has no plan");
  const { plan, clusters = [], problems } = made;
  let seen: { run: Run; now: number } | undefined;
  const faults = parseFaults(["eu-central-1-b=degraded"], plan, rollout);
  const sight = (run: Run, now: number) => {
    if (seen === undefined && run.paused !== undefined) seen = { run: structuredClone(run), now: now + 95_000 };
  };
  simulate({ rollout, plan, clusters, faults, bounds: { freezes: [], limits: {} }, times: undefined, sight }, 1);
  if (seen === undefined) throw new Error("the sample's failure paused nothing");
  const run: Run = { ...seen.run, release: plan.release, number: 7, trigger: { ...seen.run.trigger, pull: 42, author: "alice" } };
  return { run, now: seen.now, rollout, plan, problems };
}

/** Path in the project → picture. */
export function stills(): Map<string, string> {
  const { run, now, rollout, plan, problems } = pausedRun();
  const tree = renderTree(run, now, { color: true, width: COLUMNS, rows: 34 });
  const text = toText(rollout, plan, null, problems, { colour: true }).trimEnd().split("\n").slice(0, 22).join("\n");
  return new Map([
    ["docs/stills/plan.svg", picture("stagecoach plan my-app --to v1.4.2", text)],
    ["docs/stills/get.svg", picture("stagecoach get my-app", tree)],
  ]);
}

const COLORS: Record<string, string> = { "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "36": "#76e3ea", "2": "#8b949e" };
const [CHARACTER, LINE, EDGE] = [7.8, 18, 16];

/** What a terminal shows of it. */
function picture(command: string, text: string): string {
  const lines = [`\u001b[2m$\u001b[0m ${command}`, "", ...text.trimEnd().split("\n")];
  const columns = Math.min(COLUMNS, Math.max(...lines.map((line) => textWidth(line.replace(SIGNS, "")))));
  const [width, height] = [Math.ceil(columns * CHARACTER) + 2 * EDGE, lines.length * LINE + 2 * EDGE];
  const rows = lines.map((line, at) => `<text x="${EDGE}" y="${EDGE + LINE * (at + 0.75)}">${spans(line)}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(command)}</title>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="13" fill="#e6edf3">
${rows.join("\n")}
</g>
</svg>
`;
}

const SIGNS = new RegExp(`${String.fromCharCode(27)}\\[(\\d*)m`, "g");

/** Each piece stands where a terminal would put it, whatever width the reader's font has; spaces are never drawn. */
function spans(line: string): string {
  let column = 0;
  let colour = "";
  const pieces: string[] = [];
  for (const [at, piece] of line.split(SIGNS).entries()) {
    if (at % 2 === 1) colour = piece === "0" ? "" : piece;
    else {
      for (const { 0: words, index } of piece.matchAll(/\S+(?: \S+)*/g))
        pieces.push(span(words, column + textWidth(piece.slice(0, index)), colour));
      column += textWidth(piece);
    }
  }
  return pieces.join("");
}

function span(words: string, column: number, colour: string): string {
  const fill = COLORS[colour];
  const look = fill === undefined ? (colour === "1" ? ' font-weight="bold"' : "") : ` fill="${fill}"`;
  return `<tspan x="${(EDGE + column * CHARACTER).toFixed(1)}"${look}>${escaped(words)}</tspan>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
