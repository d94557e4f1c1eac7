/** How whoever watches the demo steers its runs: what is asked of them, the buttons of its pages, and the command line. */
import { causesOf } from "../../../core/base/reason.ts";
import type { Clock } from "../../../core/base/time.ts";
import { modelOf } from "../../../core/report/model/run-model.ts";
import type { Action, ModelNode } from "../../../core/report/model/types.ts";
import { namesOf, plainSentence } from "../../../core/report/reasons/say.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";

import { type Ask, asTyped } from "./screen.ts";

/** The account of whoever watches. */
export const YOU = "you";

/** Something a person has to do, and where. */
export interface Turn {
  rollout: string;
  /** Of the pause or the batch. */
  id: string;
  asks: string;
  /** The pull request to say it on. */
  pull: number;
  verb: Action["verb"];
}

/** undefined: the run waits for nobody. */
export function turnOf(run: Run): Turn | undefined {
  if (isEnded(run)) return undefined;
  const { rollout, paused } = run;
  const pull = run.trigger.pull ?? 0;
  if (paused !== undefined) {
    const asks = `${rollout} is paused: ${plainSentence(paused.reason, run).replace(/\.+$/, "")}. ${plainSentence(paused.ask, run)}`;
    return { rollout, id: paused.at, asks, pull, verb: paused.kind === "Failure" ? "retry" : "resume" };
  }
  const batch = run.batches.find((one) => one.phase === "Open" && causesOf(one.why).some(({ code }) => code === "APPROVAL_WANTED"));
  if (batch?.pull === undefined) return undefined;
  const asks = `${rollout}: ${plainSentence(batch.why, run)}`;
  return { rollout, id: String(batch.number), asks, pull: batch.pull.number, verb: "promote" };
}

/** What the pages of a pull request offer as buttons: what the run would take just now. */
export function offersOn(runs: readonly Run[], number: number, clock: Clock) {
  const run = runs.find((one) => one.trigger.pull === number || one.batches.some((batch) => batch.pull?.number === number));
  if (run === undefined) return undefined;
  const waits = turnOf(run) !== undefined;
  const model = modelOf(run, clock.now());
  const { cluster } = namesOf(run);
  const actions = [...model.actions, ...actionsOfFailed(model)].filter((action) => action.allowed);
  return {
    title: waits ? "Your turn" : "What you may say",
    waits,
    comments: actions.map(({ verb, args, effect }) => ({ body: [`/${verb}`, ...args.map(cluster)].join(" "), effect })),
  };
}

/** What may be done about each cluster that failed. */
function actionsOfFailed({ children, kind, state, actions }: ModelNode): Action[] {
  return kind === "cluster" && state === "Failed" ? actions : children.flatMap(actionsOfFailed);
}

/** How to answer, for the terminal; no line is longer than a small one has room for. `url`: of the repository. */
export function howTo({ rollout, id, asks, pull, verb }: Turn, { url, token }: { url: string; token: string }): Ask {
  const lines = [
    `Your turn. ${asks}`,
    `  with a button or a comment: ${url}/pull/${pull}`,
    "  or in another terminal:",
    `    GH_ENTERPRISE_TOKEN=${token} \\`,
    `    ${asTyped(verb)} ${rollout} -R ${url}`,
  ];
  return { id: `${rollout} ${id}`, lines };
}
