import { expect, test } from "vitest";
import type { Pull } from "../../../adapters/forge/port.ts";
import { attentionReason } from "../../../core/reasons/attention.ts";
import { type RepoContext, silentLog } from "../context.ts";
import type { GateChecks } from "../publish/gate-checks.ts";
import { openPullWatch } from "./open-pulls.ts";

function desk(required: string[]) {
  const put: string[] = [];
  const own = { base: "main", headRepository: "acme/config" };
  const pulls = [
    { ...own, number: 1, branch: "docs", head: "other" },
    { ...own, number: 2, branch: "stagecoach-run/payments/1/1-1-1", head: "batch" },
  ] as Pull[];
  const checks = {
    reported: () => undefined,
    put: async (head: string, _words: unknown, kind: string) => void put.push(`${head} ${kind}`),
    putNotOurs: async (head: string) => void put.push(`${head} other`),
  } as unknown as GateChecks;
  const rules = { of: async () => ({ requiredChecks: required.map((context) => ({ context })) }) as never };
  const context = { forge: { openPulls: async () => pulls }, repository: "acme/config", log: silentLog } as unknown as RepoContext;
  return { put, watch: openPullWatch(context, checks, rules) };
}

test.each([
  ["no check where none is required", [], []],
  ["the check that is required", ["stagecoach/gate"], ["other other"]],
])("a repo in which nothing is ours gets %s", async (_what, required, put) => {
  const all = desk(required);
  await all.watch(new Map(), "main", { quiet: true });
  expect(all.put).toEqual(put);
});

test("while the journal cannot be gone by, the gates of batches fail, and others' are green as ever", async () => {
  const { put, watch } = desk([]);
  await watch(new Map(), "main", { held: attentionReason("JOURNAL_NOT_READ", { said: "no answer" }) });
  expect(put).toEqual(["other other", "batch fenced"]);
});
