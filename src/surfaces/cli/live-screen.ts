/**
 * Draws lines in place on a terminal, and writes only those that changed. Called by `get -w`, `status` and the demo. The terminal is left
 * as it was found, whatever ends the program: it shows the last lines drawn, its cursor and nothing of the alternate screen.
 */
import { columnsOf } from "./print.ts";

/** What is needed of a terminal: `process.stdout` is one. */
interface ScreenStream {
  columns?: number | undefined;
  rows?: number | undefined;
  write(text: string): unknown;
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
}

export interface LiveScreen {
  /** Columns, and rows that lines may take. */
  room(): { width: number; rows: number };
  draw(lines: readonly string[]): void;
  /** A line that stays, above what is drawn; in the alternate screen it is shown once that is left. */
  note(line: string): void;
  /** Ends the drawing. `keep`: the last lines drawn stay to be read. */
  close(keep?: boolean): void;
}

interface Options {
  /** On the whole screen, which is put back at the end; else below what was printed before. */
  alternate: boolean;
  /** Draws again at a new size. */
  onResize?: (() => void) | undefined;
}

const ESC = "\u001b[";
const [SAVE, RESTORE] = [`${ESC}?1049h`, `${ESC}?1049l`];
const [HIDE, SHOW] = [`${ESC}?25l`, `${ESC}?25h`];
/** Terminals that know it show the frame at once; others ignore it. */
const [BEGIN, END] = [`${ESC}?2026h`, `${ESC}?2026l`];
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export function openLiveScreen(out: ScreenStream, { alternate, onResize }: Options): LiveScreen {
  let drawn: readonly string[] = [];
  let last: readonly string[] = [];
  let open = true;
  const notes: string[] = [];

  function enter(): void {
    drawn = [];
    out.write(alternate ? `${SAVE}${HIDE}${ESC}2J${ESC}H` : HIDE);
  }

  function leave(): void {
    out.write(alternate ? `${SHOW}${RESTORE}` : SHOW);
  }

  function resized(): void {
    if (alternate) out.write(`${ESC}2J${ESC}H`);
    drawn = [];
    if (onResize === undefined) draw(last);
    else onResize();
  }

  function draw(lines: readonly string[]): void {
    if (!open) return;
    const fitting = lines.slice(0, Math.max(1, (out.rows || 50) - 1));
    last = fitting;
    const text = alternate ? absolute(drawn, fitting) : relative(drawn, fitting);
    drawn = fitting;
    if (text !== "") out.write(`${BEGIN}${text}${END}`);
  }

  function close(keep = true): void {
    if (!open) return;
    open = false;
    leave();
    const kept = alternate ? [...notes, ...(keep ? last : [])] : [];
    if (kept.length > 0) out.write(`${kept.join("\n")}\n`);
    if (!keep && !alternate) out.write(erased(drawn));
    out.off?.("resize", resized);
    process.off("exit", exited);
    process.off("SIGTSTP", stopped);
    process.off("SIGCONT", continued);
    for (const signal of SIGNALS) process.off(signal, ended);
  }

  const exited = () => close();
  function ended(signal: NodeJS.Signals): void {
    close();
    // Whoever else listens decides what the signal ends.
    if (process.listenerCount(signal) === 0) process.exit(CODES[signal as keyof typeof CODES]);
  }
  // Ctrl-Z gives the shell its screen back, and `fg` takes it again.
  function stopped(): void {
    leave();
    process.kill(process.pid, "SIGSTOP");
  }
  function continued(): void {
    enter();
    resized();
  }

  enter();
  out.on?.("resize", resized);
  process.once("exit", exited);
  if (alternate && process.platform !== "win32") {
    process.on("SIGTSTP", stopped);
    process.on("SIGCONT", continued);
  }
  for (const signal of SIGNALS) process.once(signal, ended);
  return {
    room: () => ({ width: Math.max(10, columnsOf(out) ?? 100), rows: Math.max(3, (out.rows || 50) - 1) }),
    draw,
    note(line) {
      if (!open) return;
      if (alternate) notes.push(line);
      else {
        const below = last;
        out.write(`${erased(drawn)}${line}\n`);
        drawn = [];
        draw(below);
      }
    },
    close,
  };
}

function absolute(before: readonly string[], lines: readonly string[]): string {
  let text = "";
  for (const [at, line] of lines.entries()) if (before[at] !== line) text += `${ESC}${at + 1};1H${line}${ESC}0m${ESC}K`;
  if (before.length > lines.length) text += `${ESC}${lines.length + 1};1H${ESC}J`;
  return text;
}

/** The cursor stands on the line below the last one drawn. */
function relative(before: readonly string[], lines: readonly string[]): string {
  const same = before.length === lines.length && lines.every((line, at) => before[at] === line);
  if (same) return "";
  let text = before.length === 0 ? "" : `${ESC}${before.length}A\r`;
  for (const [at, line] of lines.entries()) text += before[at] === line ? `${ESC}1B` : `\r${line}${ESC}0m${ESC}K\n`;
  return before.length > lines.length ? `${text}\r${ESC}J` : `${text}\r`;
}

function erased(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${ESC}${lines.length}A\r${ESC}J`;
}
