import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openMirror } from "../../adapters/git/mirror.ts";
import type { Mirror } from "../../adapters/git/port.ts";
import { git, type Workspace, workspace } from "../../adapters/git/testing/repositories.ts";
import { openRemoteHeads, type RemoteHeads } from "./remote-heads.ts";

const JOURNAL = "stagecoach/journal";
const KIB = 1024;

let at: Workspace;
let mirror: Mirror;
let remote: RemoteHeads;

beforeEach(async () => {
  at = workspace({ "README.md": "hello\n" });
  for (let n = 0; n < 10; n++) at.commitFiles({ "generated.yaml": randomBytes(80 * KIB).toString("hex") }, `change ${n}`);
  mirror = await openMirror({ directory: join(at.directory, "mirror.git"), url: `file://${at.origin}`, allowFile: true });
  remote = openRemoteHeads({ mirror, clock: { now: () => 0, after: () => () => undefined }, journalBranch: JOURNAL });
});

afterEach(async () => {
  await mirror.close();
  at.remove();
});

function bytes(): number {
  const files = readdirSync(join(at.directory, "mirror.git"), { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return files.reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0);
}

async function commits(): Promise<number> {
  remote.hear();
  const { base = "" } = await remote.read("main");
  return (await mirror.firstParentLog(undefined, base)).length;
}

describe("the base of a repository in which nothing is ours", () => {
  test("is fetched without its history: no disk is filled with what nobody asks for", async () => {
    expect(await commits()).toBe(1);
    at.commitFiles({ "README.md": "hi\n" });
    expect(await commits()).toBe(1);
    await mirror.deepen("main");
    expect(await commits()).toBe(12);
    // Neither brings ten versions of 80 KiB.
    expect(bytes()).toBeLessThan(150 * KIB);
  });

  test("has all of it as soon as there is a rollout", async () => {
    expect(await commits()).toBe(1);
    at.commitFiles({ "rollouts/a.yaml": "kind: ProgressiveRollout\n" });
    expect(await commits()).toBe(12);
  });

  test("has all of it as soon as there is a journal", async () => {
    expect(await commits()).toBe(1);
    git(at.checkout, "push", "--quiet", "origin", `HEAD:refs/heads/${JOURNAL}`);
    expect(await commits()).toBe(11);
  });
});
