import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { openLog } from "./log.ts";

const here = (file: string) => JSON.stringify(fileURLToPath(new URL(file, import.meta.url)));

function lines(options: Partial<Parameters<typeof openLog>[0]> = {}) {
  const written: string[] = [];
  const log = openLog({ level: "debug", format: "json", write: (line) => written.push(line), ...options });
  return { log, written };
}

describe("the log", () => {
  // The text, and what of it must be gone.
  test.each([
    ["an installation token", "ghs_16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F"],
    ["one of the longer ones", `ghs_12345_eyJ0eXAiOiJKV1Qi.eyJpYXQiOjE3.${"x".repeat(80)}`, "xxxx"],
    ["a person's token", "github_pat_11AAAAAAA0abcdefghijkl_mnopq", "mnopq"],
    ["the App's signature", "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiI3In0.c2lnbmF0dXJl", "c2lnbmF0"],
    ["credentials in an address", "https://x-access-token:abcdef@github.com/acme/config.git", "abcdef"],
    ["a header", "Authorization: Basic eC1hY2Nlc3MtdG9rZW46YWJjZGVm", "eC1hY2Nl"],
    ["a key", "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "MIIEow"],
  ])("never holds %s, whatever error carries it", (_what, text, secret) => {
    const { log, written } = lines();
    log.error({ error: String(new Error(`it failed: ${text} was refused`)) }, "a round failed");
    log.warn({ nested: { deep: [text] } }, `message with ${text}`);
    expect(written).toHaveLength(2);
    for (const line of written) {
      expect(JSON.parse(line)).toMatchObject({ msg: expect.any(String) });
      expect(line).toContain("[redacted]");
      expect(line).not.toContain(secret);
    }
  });

  test("never holds the secrets it was told of, also where they are escaped", () => {
    const secret = 'pass"word\\with quotes';
    const { log, written } = lines({ secrets: [secret] });
    log.info({ secret }, `it is ${secret}`);
    expect(written.join()).not.toMatch(/pass|word/);
  });

  test("says nothing below its level", () => {
    const { log, written } = lines({ level: "warn" });
    log.debug({}, "a");
    log.info({}, "b");
    log.warn({}, "c");
    expect(written.map((line) => JSON.parse(line).msg)).toEqual(["c"]);
    expect(JSON.parse(written[0] ?? "")).toMatchObject({ level: "warn", time: expect.stringMatching(/^\d{4}-.*Z$/) });
  });

  test("for people is one line an entry, which cannot steer a terminal", () => {
    const { log, written } = lines({ format: "pretty" });
    log.warn({ repository: "acme/config", status: 400, name: "\u001b[2Jgone" }, "a delivery was refused");
    expect(written[0]).toMatch(
      /^\d\d:\d\d:\d\d warn {3}a delivery was refused {2}repository=acme\/config {2}status=400 {2}name=\\x1b\[2Jgone\n$/,
    );
  });

  test("is lost where nobody reads it any more, and the server goes on", async () => {
    const script = `
      import { openLastNet } from ${here("./deliveries/uncaught.ts")};
      import { openLog } from ${here("./log.ts")};
      const log = openLog({ level: "info", format: "json" });
      const net = openLastNet(process, log);
      net.broken.then(() => process.exit(7));
      log.info({}, "ready");
      process.stdin.once("data", () => {
        let written = 0;
        const next = () => {
          log.info({}, "nobody reads this");
          written += 1;
          if (written < 5) return setImmediate(next);
          console.error("went on");
          net.close();
        };
        next();
      });`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["pipe", "pipe", "pipe"] });
    let said = "";
    child.stderr.on("data", (part) => {
      said += String(part);
    });
    const ended = once(child, "close");
    await once(child.stdout, "data");
    await once(child.stdout.destroy(), "close");
    child.stdin.end("now");
    expect([(await ended)[0], said]).toEqual([0, "went on\n"]);
  });
});
