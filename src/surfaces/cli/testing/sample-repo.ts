/** A copy of the sample's repo for each test of a file, and what commands print there. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, vi } from "vitest";

export const FLEET = new URL("../../../../fixtures/fleet/", import.meta.url).pathname;

/** Set up anew before each test, and gone after it. */
interface SampleRepo {
  readonly dir: string;
  readonly out: string;
  readonly err: string;
  /** Forgets what was printed. */
  clear(): void;
  /** Throws where there is nothing to replace. */
  edit(file: string, from: string | RegExp, to: string): void;
}

/** `empty`: a folder with nothing in it. */
export function sampleRepo({ empty = false } = {}): SampleRepo {
  const now = { dir: "", out: "", err: "" };
  beforeEach(() => {
    Object.assign(now, { dir: mkdtempSync(join(tmpdir(), "sample-")), out: "", err: "" });
    if (!empty) cpSync(FLEET, now.dir, { recursive: true });
    for (const [name, stream] of [["out", process.stdout] as const, ["err", process.stderr] as const])
      vi.spyOn(stream, "write").mockImplementation((chunk) => {
        now[name] += String(chunk);
        return true;
      });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    rmSync(now.dir, { recursive: true });
  });
  return {
    get dir() {
      return now.dir;
    },
    get out() {
      return now.out;
    },
    get err() {
      return now.err;
    },
    clear: () => void Object.assign(now, { out: "", err: "" }),
    edit(file, from, to) {
      const path = join(now.dir, file);
      const before = readFileSync(path, "utf8");
      const after = before.replace(from, to);
      if (after === before) throw new Error(`nothing to replace in ${file}`);
      writeFileSync(path, after);
    },
  };
}
