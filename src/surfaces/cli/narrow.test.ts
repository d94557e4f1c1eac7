/** `plan`, `lint` and `simulate` on terminals of 20, 40 and 80 columns: no line is wider, and nothing is lost. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { textWidth } from "../../core/base/text-width.ts";
import { run as lint } from "./lint/lint.ts";
import { run as plan } from "./plan/plan.ts";
import { run as simulate } from "./simulate/simulate.ts";
import { sampleRepo } from "./testing/sample-repo.ts";

const here = sampleRepo();
const { isTTY, columns } = process.stdout;

beforeEach(() => {
  vi.stubEnv("NO_COLOR", "1");
  here.edit("rollouts/my-app.yaml", "area: emea", "area: emae");
});
afterEach(() => {
  vi.unstubAllEnvs();
  Object.assign(process.stdout, { isTTY, columns });
});

const COMMANDS: [string, () => Promise<number>][] = [
  ["plan my-app", () => plan(["my-app", "--repo", here.dir, "--to", "v1.5.0"])],
  ["lint", () => lint(["--repo", here.dir, "--inventory", `${here.dir}/inventory.yaml`])],
  ["simulate my-app", () => simulate(["my-app", "--repo", here.dir, "--to", "v1.5.0", "--runs", "1", "--fail", "us-east-1-d=degraded"])],
];

/** Undefined: it is no terminal. */
async function shown(width: number | undefined, command: () => Promise<number>): Promise<string> {
  Object.assign(process.stdout, { isTTY: width !== undefined, columns: width });
  here.clear();
  await command();
  return here.out;
}

test("no line is wider than the terminal", async () => {
  const views: string[] = [];
  for (const width of [20, 40, 80]) {
    for (const [name, command] of COMMANDS) {
      const text = await shown(width, command);
      for (const line of text.split("\n")) expect(textWidth(line), `${name}: ${line}`).toBeLessThanOrEqual(width);
      views.push(`$ stagecoach ${name}\n${"─".repeat(width)}\n${text}`);
    }
  }
  await expect(views.join("\n")).toMatchFileSnapshot("__snapshots__/narrow.txt");
});

test("what a narrow terminal shows of a plan is all that a file gets", async () => {
  const [, command] = COMMANDS[0] ?? ["", async () => 0];
  const whole = (await shown(undefined, command)).replace(/\s+/g, "");
  for (const width of [20, 40, 80]) expect((await shown(width, command)).replace(/\s+/g, "")).toBe(whole);
});
