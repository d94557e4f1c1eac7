import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Services, SLACK_TOKEN, startServices } from "../../../../test/support/notify-services.ts";
import { run } from "./notify.ts";

let services: Services;
let folder: string;
let out: string;

beforeEach(async () => {
  services = await startServices();
  folder = await mkdtemp(join(tmpdir(), "stagecoach-notify-"));
  out = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += String(text);
    return true;
  });
});

afterEach(async () => {
  vi.restoreAllMocks();
  await services.close();
  await rm(folder, { recursive: true, force: true });
});

async function testing(...args: string[]): Promise<number> {
  await writeFile(join(folder, "token"), `${SLACK_TOKEN}\n`);
  await writeFile(join(folder, "wrong"), "xoxb-wrong");
  const slack = (name: string, token: string) =>
    `{ name: ${name}, kind: slack, channel: C1, url: "${services.url}/api", secretFile: ${join(folder, token)} }`;
  const config = join(folder, "stagecoach.yaml");
  await writeFile(config, `notifications:\n  destinations:\n    - ${slack("payments", "token")}\n    - ${slack("broken", "wrong")}\n`);
  return await run(["test", ...args, "--config", config, "--env", join(folder, "none")]);
}

test("one destination is sent a message, and its answer is printed", async () => {
  expect(await testing("payments")).toBe(0);
  expect(out).toMatch(/^payments +sent +200: \{"ok":true/);
  expect([...services.slack.values()].map(({ text }) => text)).toEqual([expect.stringContaining("A test of Stagecoach's notifications")]);
  expect([services.problems, out.includes(SLACK_TOKEN)]).toEqual([[], false]);
});

test("all are, and one that refuses is the answer no", async () => {
  expect(await testing()).toBe(1);
  expect(out).toMatch(/broken +not sent +Slack says: invalid_auth/);
});

test("a name that is not there is told with the nearest", async () => {
  await expect(testing("paymets")).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining("did you mean payments?") });
});
