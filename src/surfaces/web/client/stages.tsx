/** The stages from left to right, each with its batches, and between two of them what has to hold before the run goes on. */
import { countedWords, shareBesideState, shareText } from "../../../core/report/counted.ts";
import { stateWord } from "../../../core/report/model/labels.ts";
import type { RunDocument } from "../../../core/report/model/schema/run.ts";
import type { ModelNode } from "../../../core/report/model/types.ts";
import { Batches, type Shown } from "./batches.tsx";
import { Mark } from "./marks.tsx";
import { Age, below } from "./parts.tsx";

export function Stages({ of, ...shown }: { of: RunDocument } & Omit<Shown, "counting">) {
  return (
    <ol class="stages" aria-label="Stages">
      {of.children.map((stage, index) => (
        <li key={stage.name}>
          <Between before={of.children[index - 1]} after={stage} />
          <Stage of={stage} counting={of} {...shown} />
        </li>
      ))}
    </ol>
  );
}

const PASSED = { state: "Passed", tone: "good", when: "past" } as const;

/** What the batches of the one pass before the other is begun, and what that waits for besides. */
function Between({ before, after }: { before: ModelNode | undefined; after: ModelNode }) {
  const gates = [...new Set([...(before?.passes?.after ?? []), ...(after.passes?.before ?? [])])];
  if (before === undefined && gates.length === 0) return null;
  const isOver = before?.when === "past";
  const isBegun = below(after, "batch").some(({ passed }) => passed?.mergedAt !== undefined);
  const isPast = (gate: string) => (after.passes?.before.includes(gate) === true ? isBegun : isOver);
  return (
    <p class="between">
      <span aria-hidden="true" class="arrow" />
      {gates.length === 0 ? null : <span class="sr">{before === undefined ? "First waits for " : "Then, once past "}</span>}
      {gates.map((gate, index) => (
        <span key={gate}>
          {isPast(gate) ? <Mark of={PASSED} /> : null}
          {isPast(gate) ? <span class="sr">passed: </span> : null}
          {`${gate}${index < gates.length - 1 ? ", " : ""}`}
        </span>
      ))}
    </p>
  );
}

/** The stages in a row, each a mark and how far it is. */
export function StageSteps({ of }: { of: RunDocument }) {
  return (
    <ol class="steps" aria-label="How far each stage is">
      {of.children.map((stage) => (
        <li key={stage.name} class={stage.when} aria-current={stage.when === "now" ? "step" : undefined}>
          <a href={`#${stageId(stage)}`}>
            <Mark of={markedAs(stage)} />
            {`${stage.name} ${shareOf(stage).replace(/ healthy$/, "")}`}
          </a>
        </li>
      ))}
    </ol>
  );
}

function hasFailed({ counts, when }: ModelNode): boolean {
  return (counts?.failed ?? 0) > 0 && when === "now";
}

/** One in which something failed wears that, whatever the run waits for. */
function markedAs(stage: ModelNode): Pick<ModelNode, "state" | "tone" | "when"> {
  return hasFailed(stage) ? { state: "Failed", tone: "bad", when: "now" } : stage;
}

function shareOf(stage: ModelNode): string {
  const { counts } = stage;
  return counts === undefined || counts.clusters === 0 ? "" : shareText(counts, stage);
}

function stageId({ name }: ModelNode): string {
  return `stage-${encodeURIComponent(name.toWellFormed())}`;
}

function Stage({ of, ...shown }: { of: ModelNode } & Shown) {
  const isEmpty = below(of, "cluster").length === 0;
  return (
    <section class={`stage ${of.when} r-${hasFailed(of) ? "bad" : of.tone}`} id={stageId(of)}>
      <h3>
        <span class="stage-name">
          <Mark of={markedAs(of)} />
          {of.name}
        </span>
        <small>
          {isEmpty ? `no ${countedWords(shown.counting)}` : of.counts === undefined ? "" : shareBesideState(of.counts, of, shown.counting)}
        </small>
      </h3>
      <p class="quiet">
        {stateWord(of)} {of.when === "now" ? <Age of={of} /> : null}
        {of.facts.map((fact) => ` · ${fact}`)}
      </p>
      <Batches of={of} {...shown} />
    </section>
  );
}
