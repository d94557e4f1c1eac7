import type { Repo } from "../model/model.ts";

type State = "missing" | "pending" | "failed" | "passed";

/** The newest check run or status of this name; `app`: only what that App reported counts. */
export function checkState(repo: Repo, sha: string, name: string, app?: number): State {
  let last: { at: number; state: State } | undefined;
  for (const run of repo.checks.values()) {
    if (run.headSha !== sha || run.name !== name || (app !== undefined && run.app.id !== app)) continue;
    const at = run.completedAt ?? run.startedAt;
    if (last === undefined || at >= last.at) last = { at, state: runState(run) };
  }
  for (const status of repo.statuses) {
    // A status says its account only.
    if (status.sha !== sha || status.context !== name || app !== undefined) continue;
    const state = status.state === "success" ? "passed" : status.state === "pending" ? "pending" : "failed";
    if (last === undefined || status.at >= last.at) last = { at: status.at, state };
  }
  return last?.state ?? "missing";
}

function runState(run: { status: string; conclusion: string | null }): State {
  if (run.status !== "completed") return "pending";
  return ["success", "neutral", "skipped"].includes(run.conclusion ?? "") ? "passed" : "failed";
}

const WORDS = { missing: "expected", pending: "pending", failed: "failing" } as const;

/** One sentence, as GitHub has it: by name where it is one check, by number where there are more. */
export function failingChecks(repo: Repo, sha: string, required: readonly { context: string; integration_id?: number }[]): string[] {
  const open: { name: string; word: string }[] = [];
  for (const { context, integration_id } of required) {
    const state = checkState(repo, sha, context, integration_id);
    if (state !== "passed") open.push({ name: context, word: WORDS[state] });
  }
  const [only, ...more] = open;
  if (only === undefined) return [];
  if (more.length === 0) return [`Required status check "${only.name}" is ${only.word}.`];
  const words = [...new Set(open.map((one) => one.word))];
  if (words.length === 1) return [`${open.length} of ${required.length} required status checks are ${words[0]}.`];
  const counts = words.map((word) => `${open.filter((one) => one.word === word).length} ${word}`);
  return [`${open.length} of ${required.length} required status checks have not succeeded: ${counts.join(", ")}.`];
}

/** Some check of the head is not green, though none is required. */
export function anyCheckOpen(repo: Repo, sha: string): boolean {
  const names = new Set([...repo.checks.values()].filter((run) => run.headSha === sha).map((run) => run.name));
  for (const status of repo.statuses) if (status.sha === sha) names.add(status.context);
  return [...names].some((name) => checkState(repo, sha, name) !== "passed");
}
