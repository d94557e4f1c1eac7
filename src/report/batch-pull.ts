import type { Batch, Run } from "../rollout/run.ts";
import { BODY_LIMIT, cell, code } from "./escape.ts";
import { age, batchName, releaseName, shortName } from "./words.ts";

/** Subject and body of the batch's commit. The trailers let a restarted bot recognise its own commit. */
export function batchCommitMessage(run: Run, batch: Batch): string {
  const clusters = [...new Set(batch.targets.map((target) => shortName(target.cluster)))];
  const subject = `${run.rollout} ${releaseName(run.release.values)}: ${clusters.slice(0, 3).join(", ")}${clusters.length > 3 ? ` and ${clusters.length - 3} more` : ""}`;
  return `${subject.slice(0, 200)}\n\n${batchName(run, batch)}\n\n${batchTrailers(run, batch)}\n`;
}

export function batchTrailers(run: Run, batch: Batch): string {
  return [`Stagecoach-Run: ${run.rollout}/${run.number}`, `Stagecoach-Batch: ${batch.number}`, `Stagecoach-Attempt: ${batch.attempt}`].join(
    "\n",
  );
}

/** What a reviewer of the batch's PR needs: the diff as a table, why now, and what can be said. */
export function batchBody(run: Run, batch: Batch, now: number): string {
  const intro = `${cell(batchName(run, batch))} of **${cell(run.rollout)} #${run.number}**, release ${code(releaseName(run.release.values))}${run.trigger.pull === undefined ? "" : ` (#${run.trigger.pull})`}.`;
  const full = [intro, diffTable(batch, Number.POSITIVE_INFINITY), evidence(run, batch, now), footer(run)]
    .filter((p) => p !== "")
    .join("\n\n");
  if (full.length <= BODY_LIMIT) return full;
  return [intro, diffTable(batch, 50), evidence(run, batch, now, 50), footer(run)].filter((p) => p !== "").join("\n\n");
}

function diffTable(batch: Batch, limit: number): string {
  const rows: string[] = [];
  for (const target of batch.targets) {
    for (const edit of target.edits) {
      if (edit.from === edit.to) continue;
      rows.push(
        `| ${code(shortName(target.cluster))} | ${code(target.application)} | ${code(edit.from ?? "")} | ${code(edit.to)} | ${code(edit.file)} | ${code(edit.path)} |`,
      );
    }
  }
  const more = rows.length > limit ? `\n\n${rows.length - limit} more rows are in the diff.` : "";
  return `| cluster | application | from | to | file | pin |\n| --- | --- | --- | --- | --- | --- |\n${rows.slice(0, limit).join("\n")}${more}`;
}

/** The proof that the batches this one waited for are live: without it the PR would not be open. */
function evidence(run: Run, batch: Batch, now: number, limit = Number.POSITIVE_INFINITY): string {
  const before = run.batches.filter((other) => other.number < batch.number && other.phase === "Settled").at(-1);
  if (before === undefined) return "";
  const rows = before.targets.map((target) => {
    const proof = target.evidence;
    const fields =
      proof === undefined
        ? ""
        : Object.entries(proof.fields)
            .map(([name, value]) => `${name}=${String(value)}`)
            .join(" ");
    return `| ${code(shortName(target.cluster))} | ${target.phase} | ${cell(proof?.sentence ?? target.why)} | ${code(fields.slice(0, 300))} |`;
  });
  const table = `| cluster | state | why | evidence |\n| --- | --- | --- | --- |\n${rows.slice(0, limit).join("\n")}`;
  const settled = before.settledAt === undefined ? "" : `, settled ${age(before.settledAt, now)} before this PR`;
  return `<details><summary>Why now: ${cell(batchName(run, before))}${settled}</summary>\n\n${table}\n\n</details>`;
}

function footer(run: Run): string {
  const how =
    run.spec.mode === "Run" && run.spec.delivery.merge === "Auto"
      ? "Stagecoach merges this PR when its gates pass."
      : "A person merges this PR; Stagecoach goes on from there.";
  return `<sub>${how} Comment \`/pause\`, \`/requeue CLUSTER\`, \`/skip CLUSTER\` or \`/abort\` to steer.</sub>`;
}
