import type { Plan } from "../rollout/plan-types.ts";
import type { Rollout } from "../rollout/rollout.ts";
import { formatDuration } from "../rollout/time.ts";
import { BODY_LIMIT, cell, code } from "./escape.ts";
import { pinValue, releaseName, shortName } from "./words.ts";

/** What a release PR would do, before it is merged. */
export function planComment(rollout: Rollout, plan: Plan, current: string | undefined): string {
  const full = compose(rollout, plan, current, Number.POSITIVE_INFINITY);
  if (full.length <= BODY_LIMIT) return full;
  return compose(rollout, plan, current, 20);
}

/** Why a release PR cannot start a run, with what to change. */
export function problemsComment(
  problems: readonly { message: string; hint: string; file: string; line: number; column: number }[],
): string {
  const rows = problems
    .slice(0, 50)
    .map((p) => `| ${code(`${p.file}:${p.line}:${p.column}`)} | ${cell(p.message, 500)} | ${cell(p.hint, 500)} |`);
  const more = problems.length > 50 ? `\n\n${problems.length - 50} more are not shown: \`stagecoach lint\` lists them all.` : "";
  return `### ❌ No run would start\n\n| where | what | what to do |\n| --- | --- | --- |\n${rows.join("\n")}${more}`;
}

function compose(rollout: Rollout, plan: Plan, current: string | undefined, clusterLimit: number): string {
  const change = current === undefined ? "" : `${code(current)} → `;
  const clusters = plan.stages.reduce((sum, stage) => sum + stage.clusters.length + stage.requeued.length, 0);
  const batches = plan.stages.reduce((sum, stage) => sum + stage.batches.length, 0);
  const parts = [
    `### 🗺️ Plan: ${cell(plan.rollout)} ${change}${code(releaseName(plan.release.values))}`,
    `Merging this PR starts a run: **${clusters} clusters** in **${batches} batches** over **${plan.stages.length} stages**, ${rollout.delivery.strategy === "Commit" ? "one push of its branches" : "one pull request"} a batch. ${paceSentence(rollout)}`,
    stageTable(rollout, plan),
    chart(plan),
    warnings(plan),
    details(plan, clusterLimit),
    `<sub>${modeSentence(rollout)} · plan ${code(plan.hash.slice(0, 12))}</sub>`,
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function paceSentence(rollout: Rollout): string {
  return `A batch goes on only when Argo CD shows its very change live and healthy${rollout.stages.some((s) => s.bakeMs > 0) ? ", and baked" : ""}.`;
}

function modeSentence(rollout: Rollout): string {
  if (rollout.delivery.strategy === "Commit" && rollout.mode !== "Observe") {
    return rollout.mode === "Run"
      ? "The bot fast-forwards the branches of each batch."
      : "`mode: Propose`: the bot says when, a person moves the branches of each batch.";
  }
  if (rollout.mode === "Run") return "The bot opens and merges the batches' PRs.";
  return rollout.mode === "Propose"
    ? "`mode: Propose`: the bot opens the batches' PRs, a person merges each."
    : "`mode: Observe`: the bot only comments.";
}

function stageTable(rollout: Rollout, plan: Plan): string {
  const rows = plan.stages.map((stage, index) => {
    const spec = rollout.stages[index];
    const gates = ["health"];
    if (spec !== undefined && spec.bakeMs > 0) gates.push(`bake ${formatDuration(spec.bakeMs)}`);
    const requeued =
      stage.requeued.length === 0
        ? "–"
        : stage.requeued
            .map((key) => code(shortName(key)))
            .slice(0, 10)
            .join(" ");
    return `| ${index + 1} | ${cell(stage.name)} | ${stage.clusters.length} | ${stage.batches.length} | ${stage.maxUnavailable} | ${gates.join(", ")} | ${requeued} |`;
  });
  return [
    "| | stage | clusters | batches | at once | gates | requeued to its end |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}

/** Mermaid ids are ours; labels are quoted, with the characters that would end the quote taken out. */
function chart(plan: Plan): string {
  const nodes = plan.stages.map((stage, index) => {
    const label = `${stage.name}: ${stage.clusters.length} clusters, ${stage.batches.length} batches`
      .replace(/["<>#;&`]/g, " ")
      .slice(0, 80);
    return `  s${index}["${label}"]`;
  });
  if (nodes.length === 0 || nodes.length > 40) return "";
  const arrows = nodes.slice(1).map((_, index) => `  s${index} --> s${index + 1}`);
  return `\`\`\`mermaid\nflowchart LR\n${[...nodes, ...arrows].join("\n")}\n\`\`\``;
}

function warnings(plan: Plan): string {
  if (plan.warnings.length === 0) return "";
  const shown = plan.warnings.slice(0, 20).map((warning) => `> - **${warning.code}** ${cell(warning.message, 800)}`);
  const more = plan.warnings.length > 20 ? [`> - and ${plan.warnings.length - 20} more`] : [];
  return `> [!WARNING]\n${[...shown, ...more].join("\n")}`;
}

function details(plan: Plan, clusterLimit: number): string {
  const rows: string[] = [];
  let left = 0;
  plan.stages.forEach((stage, stageIndex) => {
    stage.batches.forEach((batch, batchIndex) => {
      for (const target of batch.targets) {
        if (rows.length >= clusterLimit) {
          left += 1;
          continue;
        }
        const edit = target.edits[0];
        const change = edit === undefined ? "–" : `${code(pinValue(edit, "from"))} → ${code(pinValue(edit, "to"))}`;
        const where = edit === undefined ? "–" : code(edit.kind === "branch" ? edit.path : edit.file);
        rows.push(
          `| ${stageIndex + 1}.${batchIndex + 1} | ${code(shortName(target.cluster))} | ${code(target.application)} | ${change} | ${where} |`,
        );
      }
    });
  });
  const more = left === 0 ? "" : `\n\n${left} more targets: \`stagecoach plan ${plan.rollout}\` shows them all.`;
  const table = ["| batch | cluster | application | change | where |", "| --- | --- | --- | --- | --- |", ...rows].join("\n");
  return `<details><summary>Every batch and cluster</summary>\n\n${table}${more}\n\n</details>`;
}
