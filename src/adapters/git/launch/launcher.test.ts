import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Command, runCommand } from "./command.ts";
import { launch } from "./launcher.ts";

const PATH = process.env["PATH"] ?? "";

function shell(script: string, more: Partial<Command> = {}): Command {
  return { by: "program", program: "sh", args: ["-c", script], directory: tmpdir(), env: { PATH }, ...more };
}

const text = async (script: string) => (await launch(shell(script))).stdout.toString().trim();

/** Past the first commands, and those until the helper is ready, which this process runs itself. */
async function parent(): Promise<number> {
  for (;;) {
    const found = Number(await text("echo $PPID"));
    if (found !== process.pid) return found;
  }
}

describe.runIf(process.platform === "linux")("programs started by the helper", () => {
  test("the first are started here, all others by one process that is not this one", async () => {
    // A launcher of its own: this worker may have started commands for other files.
    const fresh = (await import(["./launcher.ts", "anew.ts"].join("?"))) as typeof import("./launcher.ts");
    expect(Number((await fresh.launch(shell("echo $PPID"))).stdout.toString())).toBe(process.pid);
    const helper = await parent();
    expect(helper).not.toBe(process.pid);
    expect(await Promise.all(Array.from({ length: 5 }, async () => Number(await text("echo $PPID"))))).toEqual(Array(5).fill(helper));
  });

  test("bytes go in and come out, with the exit code and what was said on stderr", async () => {
    await parent();
    const input = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 256));
    const ended = await launch(shell("cat; echo no >&2; exit 3", { input }));
    expect([ended.code, ended.stderr.toString(), ended.stdout.equals(input)]).toEqual([3, "no\n", true]);
  });

  test("a command has the environment it was given, and no other", async () => {
    const helper = await parent();
    expect((await launch(shell('echo "$A$HOME"', { env: { PATH, A: "given" } }))).stdout.toString()).toBe("given\n");
    const own = readFileSync(`/proc/${helper}/environ`, "utf8").split("\0");
    expect(own.filter((line) => !/^(NODE_(CHANNEL_|COMPILE_CACHE=)|$)/.test(line))).toEqual([]);
  });

  test("what is stopped, or takes too long, is ended and rejects; others go on", async () => {
    await parent();
    const stop = new AbortController();
    const endless = launch(shell("exec sleep 1000"), stop.signal);
    const late = launch(shell("exec sleep 1000", { limitMs: 20 }));
    const other = text("echo on");
    stop.abort();
    // Either may be the first to end.
    await Promise.all([expect(endless).rejects.toThrow("aborted"), expect(late).rejects.toThrow("aborted")]);
    expect(await other).toBe("on");
  });

  test.each([
    shell("while :; do echo y; done"),
    shell("while :; do echo y >&2; done"),
    { ...shell(""), by: "simple-git" as const, args: ["help", "-a"] },
  ])("what says more than it may is ended: $by $args", async (command) => {
    await expect(runCommand(command, new AbortController().signal, 1000)).rejects.toThrow("said more than 1000 bytes");
  });

  test("what cannot be started rejects with the reason", async () => {
    await parent();
    await expect(launch(shell("", { program: "no-such-program" }))).rejects.toThrow("ENOENT");
  });

  test("a helper that is asked nothing is ended, and the next command starts another", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const helper = await parent();
    const slow = launch(shell("read line; echo $line", { input: Buffer.from("said\n") }));
    vi.advanceTimersByTime(60_000);
    expect((await slow).stdout.toString()).toBe("said\n");
    vi.advanceTimersByTime(60_000);
    expect(await parent()).not.toBe(helper);
    await text(`while test -d /proc/${helper}; do :; done`);
  });

  test("where the helper was killed, what it ran rejects, and the next command starts another", async () => {
    const helper = await parent();
    const lost = launch(shell("exec sleep 30"));
    process.kill(helper, "SIGKILL");
    await expect(lost).rejects.toThrow("the process that starts git ended: SIGKILL");
    expect(await parent()).not.toBe(helper);
  });
});
