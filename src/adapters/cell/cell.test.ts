import { execFileSync, spawn } from "node:child_process";
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openCell } from "./cell.ts";

const INSIDE = new URL("./testing/cruel.ts", import.meta.url);
const cell = openCell(INSIDE, { cpuMs: 1000, stuckMs: 60_000, heapMb: 64, residentMb: 200 });
const answers = {
  double: async (value: number) => 2 * value,
  broken: () => {
    throw new RangeError("no such thing");
  },
};
const run = (name: string, input?: unknown) => cell.run({ name, input, answers });

afterAll(() => cell.close());

describe("a cell", () => {
  test("does a job, and is answered what it asks", async () => {
    expect(await run("echo", { a: new Map([["b", 1]]) })).toEqual({ kind: "done", value: { a: new Map([["b", 1]]) } });
    expect(await run("ask", 4)).toEqual({ kind: "done", value: [8, 42] });
  });

  test("tells what failed inside, and goes on", async () => {
    expect(await run("fail")).toEqual({ kind: "failed", said: "RangeError: no such thing" });
    expect(await run("nothing of the kind")).toMatchObject({ kind: "failed" });
    expect(await run("forbidden")).toMatchObject({ kind: "failed" });
    expect(await run("echo", 1)).toEqual({ kind: "done", value: 1 });
  });

  test("does the jobs of each owner and of each of their repositories in turn, however many of another wait", async () => {
    const done: string[] = [];
    const job = async (repository: string, n: number) => {
      await cell.of(repository).run({ name: "echo", input: n, answers });
      done.push(`${repository} ${n}`);
    };
    const noisy = [1, 2, 3, 4].map((n) => job("noisy/a", n));
    await Promise.all([...noisy, job("noisy/b", 1), job("quiet/a", 1), job("third/a", 1), job("quiet/a", 2)]);
    expect(done).toEqual(["noisy/a 1", "noisy/a 2", "quiet/a 1", "third/a 1", "noisy/b 1", "quiet/a 2", "noisy/a 3", "noisy/a 4"]);
  });

  test.each(["loop", "backtrack"])("is killed when a job takes too long: %s", async (name) => {
    const [killed, next] = await Promise.all([run(name), run("echo", "next")]);
    expect(killed).toEqual({ kind: "killed", by: "time" });
    expect(next).toEqual({ kind: "done", value: "next" });
  });

  test("that is stopped with the whole service took too much of nothing", async () => {
    expect(await run("stopped")).toEqual({ kind: "failed", said: "it ended: SIGTERM" });
    expect(await run("echo", 1)).toEqual({ kind: "done", value: 1 });
  });

  test.runIf(process.platform === "linux")("ends with who started it, also in the midst of a job", async () => {
    const folder = mkdtempSync(join(tmpdir(), "cell-"));
    const [said, program] = [join(folder, "said"), join(folder, "program")];
    execFileSync("mkfifo", [said]);
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' "$@" >'${said}'\n`, { mode: 0o755 });
    const start = `import { openCell } from ${JSON.stringify(new URL("./cell.ts", import.meta.url))};
      openCell(new URL(${JSON.stringify(INSIDE)}), undefined, ${JSON.stringify(program)}).run({ name: "toldLoop", answers: {} });`;
    const starter = spawn(process.execPath, ["--input-type=module", "-e", start], { stdio: ["ignore", "ignore", "inherit"] });
    let words = "";
    try {
      // Ends when the last one who could write has ended: the cell.
      for await (const word of createReadStream(said, "utf8")) {
        words += word;
        if (words.endsWith("began")) starter.kill("SIGKILL");
      }
      expect(words).toBe("began");
    } finally {
      starter.kill("SIGKILL");
      rmSync(folder, { recursive: true });
    }
  });

  test.each(["list", "longList", "split", "buffers", "map"])("that takes all memory ends alone: %s", async (name) => {
    const [killed, next] = await Promise.all([run(name), run("echo", "next")]);
    // Collecting what is never garbage may take the time before the memory.
    expect(killed).toMatchObject({ kind: "killed", by: name === "map" || name === "longList" ? expect.any(String) : "memory" });
    expect(next).toEqual({ kind: "done", value: "next" });
  });
});
