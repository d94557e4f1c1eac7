import type { CommandInbox } from "../inbox.ts";

/** An inbox that returns once what is to be answered was. */
export function answersGiven(inbox: CommandInbox): CommandInbox {
  const given = async <T>(work: Promise<T>): Promise<T> => {
    const result = await work;
    await inbox.settled();
    return result;
  };
  return {
    ...inbox,
    read: (rollout, places, options) => given(inbox.read(rollout, places, options)),
    beforeRun: (pull) => given(inbox.beforeRun?.(pull) ?? Promise.resolve([])),
    answer: (...answer) => given(inbox.answer(...answer)),
  };
}
