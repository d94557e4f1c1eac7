/** How whoever watches the demo steers its runs: what is asked of them, the buttons of its pages, and the command line. */
import type { Clock } from "../../../core/base/time.ts";
import { modelOf } from "../../../core/report/model/run-model.ts";
import type { Action, ModelNode, RunModel } from "../../../core/report/model/types.ts";
import { namesOf } from "../../../core/report/reasons/say.ts";
import type { Run } from "../../../core/run/state/run.ts";

import { type Ask, asTyped, pullOf } from "./screen.ts";

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
export function turnOf(model: RunModel): Turn | undefined {
  const { rollout, pause, ask, when } = model;
  if (when === "past") return undefined;
  if (pause !== undefined) {
    const tried = pause.tried && ` ${pause.tried.text} of ${pause.tried.by} did not help.`;
    const asks = `${rollout} is paused: ${pause.says.replace(/\.+$/, "")}.${tried ?? ""} ${ask?.says ?? ""}`.trimEnd();
    return { rollout, id: pause.at, asks, pull: model.pull ?? 0, verb: pause.kind === "Failure" ? "retry" : "resume" };
  }
  const batch = batchesBelow(model).find(({ waitsOn }) => waitsOn?.kind === "person");
  const pull = batch && pullOf(batch);
  if (batch === undefined || pull === undefined) return undefined;
  return { rollout, id: String(batch.number), asks: `${rollout}: ${batch.says}`, pull: Number(pull.name.slice(1)), verb: "promote" };
}

function batchesBelow({ kind, children }: ModelNode): ModelNode[] {
  return children.flatMap((child) => (child.kind === "batch" ? [child] : kind === "batch" ? [] : batchesBelow(child)));
}

/** What the pages of a pull request offer as buttons: what the run would take just now, each once. */
export function offersOn(runs: readonly Run[], number: number, clock: Clock) {
  const run = runs.find((one) => one.trigger.pull === number || one.batches.some((batch) => batch.pull?.number === number));
  if (run === undefined) return undefined;
  const model = modelOf(run, clock.now());
  const waits = turnOf(model) !== undefined;
  const { cluster } = namesOf(run);
  const actions = [...model.actions, ...actionsOfFailed(model)].filter((action) => action.allowed);
  const said = new Map(actions.map(({ verb, args, effect }) => [[`/${verb}`, ...args.map(cluster)].join(" "), effect]));
  return {
    title: waits ? "Your turn" : "What you may say",
    waits,
    comments: [...said].map(([body, effect]) => ({ body, effect })),
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
