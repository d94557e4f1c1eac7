/** What an answer to one of init's questions makes of the rollout that it proposed. Called by `stagecoach init`, where somebody answers. */
import { type Document, parse, parseDocument } from "yaml";
import type { Question } from "../../reasons/onboarding.ts";
import { versionsOf } from "./guess.ts";
import { questionLines, WIDTH } from "./print.ts";
import { versionShown } from "./show.ts";
import type { ProposedPin, ProposedRelease, ProposedRollout } from "./types.ts";

/** Returns the file with that answer, the first being 0, and without the question. What an answer leaves to people to do stays as it is, asked still. */
export function answerQuestion(text: string, question: Question, answer: number): string {
  const document = parseDocument(withoutQuestion(text, question));
  switch (question.kind) {
    case "WhichVersion":
      document.setIn(["spec", "release", "version"], versionsOf(question)[answer]);
      break;
    case "WhichValue":
      document.setIn(["spec", "release", "values", question.name], question.values[answer]);
      break;
    case "WhoSyncs":
      if (answer > 1) return text;
      for (const [i, stage] of stagesOf(document.toJS()).entries())
        if (question.stages.includes(stage)) document.setIn(["spec", "stages", i, "sync"], answer === 0 ? "Wait" : "Request");
      break;
    case "BringAlong":
      if (answer === 1 && question.outdone === true) return text;
      if (answer === 1) bringAlong(document, question);
  }
  return document.toString(WIDTH);
}

function bringAlong(document: Document, { pin, own }: Extract<Question, { kind: "BringAlong" }>): void {
  document.addIn(["spec", "pins"], document.createNode(pin));
  if (own === undefined) return;
  const version = document.getIn(["spec", "release", "version"]);
  if (version !== undefined) document.setIn(["spec", "release"], document.createNode({ values: { version } }));
  document.setIn(["spec", "release", "values", own.name], own.value);
}

/** What views show of a rollout, as its file has it now. */
export function shownOf(text: string): Pick<ProposedRollout, "version" | "pins"> {
  const { release, pins } = parse(text).spec as { release: ProposedRelease; pins: ProposedPin[] };
  return { version: versionShown(release), pins };
}

function stagesOf(rollout: { spec?: { stages?: { name?: unknown }[] } }): string[] {
  return (rollout.spec?.stages ?? []).map(({ name }) => String(name));
}

function withoutQuestion(text: string, question: Question): string {
  const lines = questionLines(question);
  const all = text.split("\n");
  const from = all.indexOf(lines[0] ?? "");
  return from < 0 ? text : all.toSpliced(from, lines.length).join("\n");
}
