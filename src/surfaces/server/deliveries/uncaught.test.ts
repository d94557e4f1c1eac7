import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const NET = fileURLToPath(new URL("./uncaught.ts", import.meta.url));

/** A process of its own, since this one's failures are the test runner's. */
function inProcess(body: string): Promise<{ code: number | null; lines: string[] }> {
  const script = `
    import { openLastNet } from ${JSON.stringify(NET)};
    const say = (level) => (fields, message) => console.log(JSON.stringify({ level, message, ...fields }));
    const log = { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") };
    const net = openLastNet(process, log);
    const later = (ms, work) => setTimeout(work, ms);
    ${body}`;
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    let out = "";
    child.stdout.on("data", (part) => {
      out += String(part);
    });
    child.on("close", (code) => resolve({ code, lines: out.split("\n").filter((line) => line !== "") }));
  });
}

test("a rejection that nobody waits for is logged with where it came from, and the process goes on", async () => {
  const { code, lines } = await inProcess(`
    async function measuringSomething() { throw new RangeError("Maximum call stack size exceeded"); }
    void measuringSomething();
    void Promise.reject("no error at all");
    later(10, () => console.log("still here"));`);
  expect(code).toBe(0);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    level: "error",
    message: expect.stringContaining("Going on"),
    error: "RangeError: Maximum call stack size exceeded",
    stack: expect.stringContaining("measuringSomething"),
  });
  expect(JSON.parse(lines[1] ?? "")).toEqual({ level: "error", message: expect.any(String), error: "no error at all" });
  expect(lines[2]).toBe("still here");
});

test("an exception out of a timer is logged, and the process is told to stop, which a further one does not disturb", async () => {
  const { code, lines } = await inProcess(`
    net.broken.then(() => later(10, () => { console.log("drained"); process.exitCode = 1; net.close(); }));
    later(1, () => { throw new Error("out of a timer"); });
    later(5, () => { throw new Error("and another"); });`);
  expect(lines.map((line) => (line.startsWith("{") ? (JSON.parse(line) as { error: string }).error : line))).toEqual([
    "Error: out of a timer",
    "Error: and another",
    "drained",
  ]);
  expect(code).toBe(1);
});
