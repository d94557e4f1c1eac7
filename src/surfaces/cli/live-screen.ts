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

export class LiveScreen {
  readonly #out: ScreenStream;
  readonly #options: Options;
  readonly #notes: string[] = [];
  #drawn: readonly string[] = [];
  #last: readonly string[] = [];
  #open = true;

  constructor(out: ScreenStream, options: Options) {
    this.#out = out;
    this.#options = options;
    this.#enter();
    out.on?.("resize", this.#resized);
    process.once("exit", this.#exited);
    if (options.alternate && process.platform !== "win32") {
      process.on("SIGTSTP", this.#stopped);
      process.on("SIGCONT", this.#continued);
    }
    for (const signal of SIGNALS) process.once(signal, this.#ended);
  }

  /** Columns, and rows that lines may take. */
  room(): { width: number; rows: number } {
    return { width: Math.max(10, columnsOf(this.#out) ?? 100), rows: Math.max(3, (this.#out.rows || 50) - 1) };
  }

  draw(lines: readonly string[]): void {
    if (!this.#open) return;
    const fitting = lines.slice(0, Math.max(1, (this.#out.rows || 50) - 1));
    this.#last = fitting;
    const text = this.#options.alternate ? absolute(this.#drawn, fitting) : relative(this.#drawn, fitting);
    this.#drawn = fitting;
    if (text !== "") this.#out.write(`${BEGIN}${text}${END}`);
  }

  /** A line that stays, above what is drawn; in the alternate screen it is shown once that is left. */
  note(line: string): void {
    if (!this.#open) return;
    if (this.#options.alternate) this.#notes.push(line);
    else {
      const below = this.#last;
      this.#out.write(`${erased(this.#drawn)}${line}\n`);
      this.#drawn = [];
      this.draw(below);
    }
  }

  /** Ends the drawing; the last lines drawn stay to be read. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#leave();
    const kept = this.#options.alternate ? [...this.#notes, ...this.#last] : [];
    if (kept.length > 0) this.#out.write(`${kept.join("\n")}\n`);
    this.#out.off?.("resize", this.#resized);
    process.off("exit", this.#exited);
    process.off("SIGTSTP", this.#stopped);
    process.off("SIGCONT", this.#continued);
    for (const signal of SIGNALS) process.off(signal, this.#ended);
  }

  #enter(): void {
    this.#drawn = [];
    this.#out.write(this.#options.alternate ? `${SAVE}${HIDE}${ESC}2J${ESC}H` : HIDE);
  }

  #leave(): void {
    this.#out.write(this.#options.alternate ? `${SHOW}${RESTORE}` : SHOW);
  }

  readonly #resized = (): void => {
    const { alternate, onResize } = this.#options;
    if (alternate) this.#out.write(`${ESC}2J${ESC}H`);
    this.#drawn = [];
    if (onResize === undefined) this.draw(this.#last);
    else onResize();
  };
  readonly #exited = (): void => this.close();
  readonly #ended = (signal: NodeJS.Signals): void => {
    this.close();
    // Whoever else listens decides what the signal ends.
    if (process.listenerCount(signal) === 0) process.exit(CODES[signal as keyof typeof CODES]);
  };
  // Ctrl-Z gives the shell its screen back, and `fg` takes it again.
  readonly #stopped = (): void => {
    this.#leave();
    process.kill(process.pid, "SIGSTOP");
  };
  readonly #continued = (): void => {
    this.#enter();
    this.#resized();
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
