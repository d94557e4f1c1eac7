/**
 * `npm test`: says first what is here and what will be skipped for want of it, runs everything, and closes with one line
 * of counts. With STAGECOACH_REQUIRE_ALL=1 the long journeys and the attacks are run too, and a suite skipped for want of a program is a failure.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { POSTGRES } from "./support/postgres.ts";

interface Need {
  name: string;
  suites: string;
  here: boolean;
  /** Never installed by the gate: shared material that may lie beside a checkout. */
  optional?: boolean;
}

function answers(command: string, args: string[]): boolean {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}

const needs: Need[] = [
  {
    name: "git with http-backend",
    suites: "git, sim, end to end",
    here: answers("git", ["http-backend", "--help"]) || existsSync(join(execPath(), "git-http-backend")),
  },
  { name: "Chromium", suites: "the page in a browser", here: answers("chromium", ["--version"]) },
  { name: "ssh-keygen", suites: "signatures by SSH keys", here: spawnSync("ssh-keygen", ["-?"]).error === undefined },
  { name: "PostgreSQL", suites: "several replicas", here: POSTGRES !== undefined },
  { name: "promtool", suites: "what Prometheus says of metrics, alerts and dashboard", here: answers("promtool", ["--version"]) },
  {
    name: "shared material beside the checkout",
    suites: "corpus",
    here: existsSync(new URL("../../shared/data", import.meta.url)),
    optional: true,
  },
];

function execPath(): string {
  return spawnSync("git", ["--exec-path"], { encoding: "utf8" }).stdout?.trim() ?? "";
}

const requireAll = process.env["STAGECOACH_REQUIRE_ALL"] === "1";
const missing = needs.filter((need) => !need.here);
for (const need of needs) console.log(`${need.here ? "here   " : "missing"}  ${need.name}${need.here ? "" : `: skipping ${need.suites}`}`);
const fatal = requireAll && missing.some((need) => need.optional !== true);
if (fatal) console.error("STAGECOACH_REQUIRE_ALL=1: nothing may be skipped for want of a program.");

/** Repositories of tests live for seconds: in memory where there is room for them, for a disk makes each wait its turn. */
function scratch(): string {
  const memory = "/dev/shm";
  if (process.env["TMPDIR"] !== undefined || !existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 2 * 1024 ** 3 ? memory : tmpdir();
}

const folder = mkdtempSync(join(scratch(), "stagecoach-test-"));
const temporary = join(folder, "tmp");
mkdirSync(temporary);
// PostgreSQL runs as another user, and passes through to what is its own.
for (const path of [folder, temporary]) chmodSync(path, 0o711);
/** git of tests forces nothing to the disk: what they make is lost with them. */
const env = { ...process.env, TMPDIR: temporary, GIT_TEST_FSYNC: "0", NODE_COMPILE_CACHE: join(folder, "compiled") };
const vitest = new URL("../node_modules/vitest/vitest.mjs", import.meta.url).pathname;

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[];
}

const total = { passed: 0, failed: 0, skipped: 0 };

/** Runs vitest once and adds what it counted. A run that ends badly without a failed test counts as one failure. */
function run(name: string, args: string[], more: Record<string, string> = {}): void {
  const output = join(folder, `${name}.json`);
  const result = spawnSync(
    process.execPath,
    [vitest, "run", "--reporter=default", "--reporter=json", `--outputFile.json=${output}`, ...args],
    { stdio: "inherit", env: { ...env, ...more } },
  );
  if (!existsSync(output)) {
    total.failed += 1;
    return;
  }
  const report = JSON.parse(readFileSync(output, "utf8")) as Report;
  for (const file of report.testResults) {
    const skipped = file.assertionResults.filter((test) => test.status === "pending" || test.status === "skipped");
    if (skipped.length > 0)
      console.log(
        `skipped ${skipped.length} in ${file.name.slice(file.name.lastIndexOf("/") + 1)}: ${skipped[0]?.fullName}${skipped.length > 1 ? " …" : ""}`,
      );
  }
  total.passed += report.numPassedTests;
  total.failed += result.status === 0 ? report.numFailedTests : Math.max(1, report.numFailedTests);
  total.skipped += report.numPendingTests;
}

const asked = process.argv.slice(2);
if (asked.length > 0) run("asked", asked);
else {
  if (!requireAll)
    console.log(
      "left to the gate: test/e2e/*.long.test.ts, test/attacks, test/chaos and test/package.test.ts; STAGECOACH_REQUIRE_ALL=1 takes them too",
    );
  run("all", [], requireAll ? {} : { STAGECOACH_LEAVE_LONG: "1" });
}
rmSync(folder, { recursive: true, force: true });
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 || fatal ? 1 : 0;
