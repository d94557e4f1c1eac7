import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { writeSettings } from "./env-file.ts";

function fileOf(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "settings-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, ".env");
  writeFileSync(file, text, { mode: 0o644 });
  return file;
}

test("settings that stood there stay what they were, whatever is in them", () => {
  const file = fileOf(`FREEZES='[{"schedule":"0 0 * * *"}]'\nNOTE="a # b"\nPATTERN='x\\ny'\nSAID=\`it's "so"\`\nLINES="a\\nb"\n`);
  const before = parseEnv(readFileSync(file, "utf8"));
  writeSettings(file, { APP_ID: "1", PRIVATE_KEY: "-----BEGIN KEY-----\nabc\n-----END KEY-----\n" });
  const after = parseEnv(readFileSync(file, "utf8"));
  expect(after).toEqual({ ...before, APP_ID: "1", PRIVATE_KEY: "-----BEGIN KEY-----\nabc\n-----END KEY-----" });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
