/** Says on a terminal what takes longer than a second, and for how long; nothing is left of it in the end. */
import { columnsOf } from "./print.ts";

const QUIET_MS = 1000;
const STEP_MS = 200;

export interface Progress {
  /** Says how far it is, for work that lets no timer run; `text` stands behind what is being done. */
  step(text: string): void;
  end(): void;
}

type Terminal = Pick<NodeJS.WriteStream, "write"> & { isTTY?: boolean; columns?: number | undefined };

/** Written to standard error, so that what is printed can be read by a program. */
export function openProgress(doing: string, out: Terminal = process.stderr): Progress {
  if (out.isTTY !== true) return { step: () => undefined, end: () => undefined };
  const began = performance.now();
  let said = 0;
  let more = "";
  const timer = setInterval(say, QUIET_MS);
  timer.unref();

  function say(): void {
    const now = performance.now();
    if (now - began < QUIET_MS) return;
    said = now;
    const line = `${doing}${more === "" ? "" : ` ${more}`} … ${Math.round((now - began) / 1000)} s`;
    out.write(`\r${line.slice(0, Math.max(10, (columnsOf(out) ?? 80) - 1))}\u001b[K`);
  }

  return {
    step(text) {
      more = text;
      if (performance.now() - Math.max(said, began) >= STEP_MS) say();
    },
    end() {
      clearInterval(timer);
      if (said > 0) out.write("\r\u001b[K");
      said = 0;
    },
  };
}

export async function withProgress<T>(doing: string, work: () => Promise<T>): Promise<T> {
  const progress = openProgress(doing);
  try {
    return await work();
  } finally {
    progress.end();
  }
}
