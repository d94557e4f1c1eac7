/** Asks in a terminal what init could not decide, before anything is written. Called by `init.ts`. */
import { createInterface } from "node:readline/promises";
import type { Question } from "../../../core/reasons/onboarding.ts";
import { answerQuestion, shownOf } from "../../../core/report/onboarding/answer.ts";
import { sayPrompt, sayQuestion, sayRefused } from "../../../core/report/onboarding/guess.ts";
import type { Proposal, ProposedRollout } from "../../../core/report/onboarding/types.ts";
import { visible } from "../print.ts";

interface Terminal {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

/** What would stand against a rollout's file, a line each. */
type Verify = (file: string, text: string) => readonly string[];

/** The proposal with the answers in its files. Where the input ends, what is left stays as it was proposed, with its question. */
export async function askAll(proposal: Proposal, verify: Verify, { input, output }: Terminal): Promise<Proposal> {
  if (proposal.rollouts.every(({ questions }) => questions.length === 0)) return proposal;
  const lines = createInterface({ input, output, terminal: false });
  const answers = lines[Symbol.asyncIterator]();
  const say = (text: string) => void output.write(text);
  const next = async (): Promise<string | undefined> => {
    const { value, done } = await answers.next();
    return done === true ? undefined : value;
  };
  const rollouts: ProposedRollout[] = [];
  try {
    for (const rollout of proposal.rollouts) rollouts.push(await askOf(rollout, verify, { say, next }));
  } finally {
    lines.close();
  }
  return { ...proposal, rollouts };
}

interface Talk {
  say(text: string): void;
  /** Undefined: the input has ended. */
  next(): Promise<string | undefined>;
}

async function askOf(rollout: ProposedRollout, verify: Verify, talk: Talk): Promise<ProposedRollout> {
  let { text } = rollout;
  const open: Question[] = [];
  for (const question of rollout.questions) {
    const answer = await ask(rollout.file, question, talk);
    const fresh = answer === undefined ? text : answerQuestion(text, question, answer);
    const against = fresh === text ? [] : verify(rollout.file, fresh);
    if (against.length > 0) talk.say(`${visible(sayRefused(rollout.file, against))}\n`);
    if (against.length > 0 || fresh === text) open.push(question);
    else text = fresh;
  }
  return text === rollout.text ? { ...rollout, questions: open } : { ...rollout, ...shownOf(text), text, questions: open };
}

async function ask(file: string, question: Question, { say, next }: Talk): Promise<number | undefined> {
  const { ask: asked, answers } = sayQuestion(question);
  say(`\n${visible(file)}: ${visible(asked)}\n${answers.map((one, i) => `  ${i + 1}. ${visible(one)}\n`).join("")}`);
  for (let wrong = false; ; wrong = true) {
    say(sayPrompt(answers.length, wrong));
    const line = (await next())?.trim();
    if (line === undefined) return undefined;
    const number = line === "" ? 1 : /^\d{1,3}$/.test(line) ? Number(line) : 0;
    if (number >= 1 && number <= answers.length) return number - 1;
  }
}
