import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { completionOf } from "./completion.ts";
import { comment, postCommand } from "./steer/post-command.ts";

const TABLE = {
  lint: { summary: "validates rollouts: schema", load: () => import("./lint/lint.ts") },
  pin: { summary: "reads one pin", load: () => import("./pin/pin.ts") },
  pause: { summary: "nobody's merge", load: async () => postCommand("pause") },
  journal: { summary: "whose the journal is", load: () => import("./journal/journal.ts") },
  sim: { summary: "parts of the embedded world", load: () => import("./sim/sim.ts") },
  requeue: { summary: "puts off", load: async () => postCommand("requeue") },
  comment: { summary: "any other", load: async () => comment },
  status: { summary: "a line a change", load: () => import("./journal/status.ts") },
  wait: { summary: "until it is there", load: () => import("./journal/wait.ts") },
};

async function script(shell: string): Promise<string> {
  let out = "";
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += String(text);
    return true;
  });
  try {
    expect(await completionOf(TABLE).run([shell])).toBe(0);
  } finally {
    spy.mockRestore();
  }
  return out;
}

/** What bash offers for a line, the cursor at its end. */
async function offered(line: string[], cwd = "."): Promise<string[]> {
  const code = `${await script("bash")}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stagecoach; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", code, "bash", ...line], { cwd, encoding: "utf8" })
    .split("\n")
    .filter(Boolean);
}

test("bash completes subcommands, their options, and what stands below them", async () => {
  expect(await offered(["stagecoach", "p"])).toEqual(["pin", "pause"]);
  expect(await offered(["stagecoach", "lint", "--i"])).toEqual(["--inventory"]);
  expect(await offered(["stagecoach", "pin", "g"])).toEqual(["get"]);
  expect(await offered(["stagecoach", "journal", "a"])).toEqual(["accept"]);
  expect(await offered(["stagecoach", "journal", "accept", "--br"])).toEqual(["--branch"]);
  expect(await offered(["stagecoach", "sim", ""])).toEqual(expect.arrayContaining(["github", "argocd"]));
  expect(await offered(["stagecoach", "sim", "github", "--ow"])).toEqual(["--owner"]);
  // From the table of commands.
  expect(await offered(["stagecoach", "requeue", "payments", "--f"])).toEqual(["--for"]);
});

test("bash completes the names of the rollouts around", async () => {
  const dir = mkdtempSync(join(tmpdir(), "completion-"));
  try {
    execFileSync("mkdir", [join(dir, "rollouts")]);
    writeFileSync(join(dir, "rollouts/a.yaml"), "metadata:\n  name: payments\nspec:\n  name: no\n---\nmetadata:\n  name: ledger\n");
    for (const name of ["pause", "comment", "status", "wait"])
      expect(await offered(["stagecoach", name, ""], dir), name).toEqual(["payments", "ledger"]);
    expect(await offered(["stagecoach", "wait", "payments", "--f"], dir)).toEqual(expect.arrayContaining(["--for", "--fetch"]));
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test.each(["zsh", "fish"])("%s gets every subcommand with its summary, quoted", async (shell) => {
  const text = await script(shell);
  for (const name of Object.keys(TABLE)) expect(text).toContain(name);
  expect(text).toContain("nobody'\\''s merge");
});
