/** Says what init guessed of a rollout that it proposes, and what it asks. Told by `show.ts`, `body.ts` and `print.ts`. */
import type { Guess, Question } from "../../reasons/onboarding.ts";
import { few } from "../reasons/phrases.ts";

/** A question with answers to choose from: each a word, or a line to paste. */
interface SaidQuestion {
  ask: string;
  answers: string[];
}

const MOST_VALUES = 4;

export function sayGuess(guess: Guess): string {
  switch (guess.kind) {
    case "DefaultForAll":
      return `${guess.version} is a default for all of them: the first release writes the version for each, and a rollback takes that away again`;
    case "MovesByItself":
      return `they stand at ${guess.version}, which moves by itself: the first release puts a version in its place`;
    case "SeveralImages":
      return `these are ${guess.images} images with versions of their own: each has a value, and a release changes one or several`;
    case "OrderByText":
      return `the order of stages is taken from the ${guess.of === "clusters" ? "clusters'" : "Applications'"} ${plural(guess.text)}`;
    case "OrderOfLabel":
      return `the order of the values of ${guess.label} is a guess`;
    case "OneEnvironment":
      return "nothing tells Applications of one environment from those of another: all of them are one stage or two";
    case "LeftOut": {
      const [run, read, are] = guess.applications.length === 1 ? ["runs", "reads", "is"] : ["run", "read", "are"];
      const why = guess.branch === undefined ? "without a version in this repo" : `and ${read} the branch ${guess.branch}`;
      return `${few(guess.applications)} ${run} the same thing ${why}, and ${are} left out`;
    }
    case "TakenForProduction":
      return `${few(guess.applications)} ${guess.applications.length === 1 ? "names" : "name"} no environment, and ${guess.applications.length === 1 ? "is" : "are"} taken for production`;
    case "BranchesMove":
      return "a branch that has commits of its own cannot be moved forward: the run then stops and says which";
    case "LabelsUnknown":
      return "no label of a cluster is known: stages name their clusters; give --inventory, or --plane-labels of several control planes, to select by labels";
    case "NamesOnly":
      return `no label tells the ${guess.of} of one environment from those of another: stages name them, so one that joins later is in no stage`;
  }
}

export function sayQuestion(question: Question): SaidQuestion {
  switch (question.kind) {
    case "WhichVersion": {
      const { versions, taken } = question;
      return {
        ask: `they are at ${versions.length} versions (${versions.slice(0, MOST_VALUES).join(", ")}), and ${taken} stands here: which one is released? Nothing moves before it is changed`,
        answers: versionsOf(question)
          .slice(0, MOST_VALUES)
          .map((version) => `version: ${JSON.stringify(version)}`),
      };
    }
    case "WhoSyncs":
      return {
        ask: `Applications of ${question.stages.slice(0, MOST_VALUES).join(", ")} have no automated sync: who syncs a batch once it is merged?`,
        answers: [
          "sync: Wait, as it stands here: a person does, and the run waits for it",
          "sync: Request: Stagecoach asks Argo CD for it, where its account may (kind: api, allowSync)",
          "none: turn automated sync on in the Applications, and take sync out of the stages",
        ],
      };
    case "WhichValue": {
      const values = question.values.slice(0, MOST_VALUES);
      return {
        ask: `${question.name} is at ${values.join(" and ")}: the next release brings all of them to what stands here, whatever else it changes. Which is it?`,
        answers: values.map((value) => `${question.name}: ${JSON.stringify(value)}`),
      };
    }
    case "BringAlong":
      return {
        ask: `${question.slot} is at ${question.values.slice(0, 3).join(", ")}, and no pin: does a release bring it along?`,
        answers: ["no: leave it out", sayAlong(question)],
      };
  }
}

function sayAlong({ pin, own, outdone }: Extract<Question, { kind: "BringAlong" }>): string {
  if (outdone === true) return "yes, by hand: a digest beside it wins over it, so give both a value of their own, and a pin";
  const pasted = `${JSON.stringify(pin)} under pins`;
  if (own === undefined) return `yes, with the release's own version: ${pasted}`;
  const { name, value, beside } = own;
  const values =
    beside === undefined
      ? `${name}: ${JSON.stringify(value)} under release.values`
      : `release: ${JSON.stringify({ values: { version: beside, [name]: value } })}`;
  return `yes, with a value of its own: ${values}, and ${pasted}`;
}

/** What stands in the rollout comes first. */
export function versionsOf({ versions, taken }: { versions: readonly string[]; taken: string }): string[] {
  return [taken, ...versions.filter((version) => version !== taken)];
}

/** What a terminal asks behind the answers. Nothing: the first, which stands in the rollout. */
export function sayPrompt(answers: number, wrong: boolean): string {
  return `${wrong ? `Write a number from 1 to ${answers}, or nothing for 1. ` : ""}Answer [1]: `;
}

/** Why an answer was not taken. */
export function sayRefused(file: string, because: readonly string[]): string {
  return `${file} would not pass lint then, and stays as it was: ${because.slice(0, 3).join("; ")}`;
}

function plural(word: string): string {
  return word.endsWith("ch") ? `${word}es` : `${word}s`;
}
