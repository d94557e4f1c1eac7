/**
 * What is asked of hooks, as it is kept and followed. Each request is journalled before it is made; its answer comes back with
 * the world. A request whose answer was lost in a crash is made again: same event, same id, so a hook can tell.
 */

import { text } from "../../base/reason.ts";
import { epoch, formatDuration, iso } from "../../base/time.ts";
import type { HookRef } from "../../reasons/refs.ts";
import type { Command } from "../../spec/command.ts";
import type { HookWhen } from "../../spec/stage-checks.ts";
import { failRun } from "../outcome/run-failures.ts";
import type { Run } from "../state/run.ts";
import { change, type Draft, pause, wakeAt } from "../state/run-draft.ts";
import { type HookAnswer, type HookCall, hookTryKey } from "../state/run-hooks-types.ts";

/** Requests in a row without a usable answer, after which a person is asked. */
export const MOST_ERRORS = 5;
const FIRST_RETRY_MS = 2000;
const RETRY_FACTOR = 4;

export interface HookPlace {
  stage: number;
  when: HookWhen;
  index: number;
}

export function hookCallAt(run: Pick<Run, "hooks">, place: HookPlace): HookCall | undefined {
  return run.hooks?.findLast((call) => call.stage === place.stage && call.when === place.when && call.index === place.index);
}

/** Returns a hook as reasons name it. */
export function hookRef(run: Run, { stage, when, index }: HookPlace): HookRef {
  const host = hookHost(run.spec.stages[stage]?.hooks?.[when][index]?.url ?? "");
  return { number: index + 1, when, stage: run.plan.stages[stage]?.name ?? "", host };
}

/** `hook 1 before stage "eu-west-1" (hooks.example.com)`. Of the address the host only: the rest may hold a secret. */
export function hookTitle(run: Run, { stage, when, index }: HookPlace): string {
  const of = `stage "${run.plan.stages[stage]?.name ?? ""}"`;
  const host = hookHost(run.spec.stages[stage]?.hooks?.[when][index]?.url ?? "");
  const place = when === "onFailure" ? `on failure of ${of}` : `${when} ${of}`;
  return `hook ${index + 1} ${place}${host === "" ? "" : ` (${host})`}`;
}

export function hookHost(url: string): string {
  return /^https?:\/\/(?:[^/@]*@)?([^/?#]+)/i.exec(url)?.[1] ?? "";
}

/** Journals a new event and has it sent. */
export function callHook(draft: Draft, place: HookPlace, attempt: number, failures?: HookCall["failures"]): void {
  const { rollout, number } = draft.run;
  const { stage, when, index } = place;
  const call: HookCall = {
    id: `${rollout}/${number}/${stage + 1}/${when}/${index + 1}/${attempt}`,
    ...{ stage, when, index, attempt },
    phase: "Calling",
    why: "it is asked",
    tries: 1,
    errors: 0,
    since: draft.at,
    ...(failures === undefined ? {} : { failures }),
  };
  const calls = draft.run.hooks ?? [];
  const others = when === "onFailure" ? calls : calls.filter((one) => one.stage !== stage || one.when !== when || one.index !== index);
  change(draft, { hooks: [...others, call] }, `${hookTitle(draft.run, place)} is asked`);
  // The event that it replaces is not sent any more, were it in this very round.
  const gone = calls.filter((one) => !others.includes(one)).map((one) => one.id);
  const at = draft.effects.findIndex((effect) => effect.kind === "CallHook" && gone.includes(effect.hook));
  if (at >= 0) draft.effects.splice(at, 1);
  draft.effects.push({ kind: "CallHook", hook: call.id, request: 1 });
}

function put(draft: Draft, call: HookCall, event: string): void {
  const hooks = (draft.run.hooks ?? []).map((one) => (one.id === call.id ? call : one));
  change(draft, { hooks }, event === "" ? undefined : event);
}

/** Takes in what hooks answered, and has them asked again that are to be. */
export function followHooks(draft: Draft): void {
  for (const call of draft.run.hooks ?? []) {
    if (call.phase === "Calling") follow(draft, call);
    else if (call.phase === "Waiting" || call.phase === "Held") askAgain(draft, call);
  }
}

function follow(draft: Draft, call: HookCall): void {
  const answer = draft.world.hooks?.get(hookTryKey(call.id, call.tries));
  if (answer !== undefined) take(draft, call, answer);
  else if (draft.world.hooks !== undefined) draft.effects.push({ kind: "CallHook", hook: call.id, request: call.tries });
}

function askAgain(draft: Draft, call: HookCall): void {
  const due = epoch(call.nextAt ?? draft.at);
  if (draft.now < due) {
    wakeAt(draft, due);
    return;
  }
  const { nextAt: _, ...rest } = call;
  put(draft, { ...rest, phase: "Calling", tries: call.tries + 1 }, `${hookTitle(draft.run, call)} is asked again`);
  draft.effects.push({ kind: "CallHook", hook: call.id, request: call.tries + 1 });
}

function take(draft: Draft, call: HookCall, answer: HookAnswer): void {
  switch (answer.kind) {
    case "go":
      end(draft, call, "Done", answer.message === "" ? "it said to go on" : answer.message);
      return;
    case "fail":
      end(draft, call, "Failed", answer.message === "" ? "it said that it failed" : answer.message);
      return;
    case "hold":
      hold(draft, call, answer);
      return;
    case "error":
      retry(draft, call, answer);
  }
}

function end(draft: Draft, call: HookCall, phase: HookCall["phase"], why: string): void {
  put(draft, { ...call, phase, why, endedAt: draft.at }, `${hookTitle(draft.run, call)}: ${phase}: ${text(why)}`);
}

function hold(draft: Draft, call: HookCall, { message, forMs }: Extract<HookAnswer, { kind: "hold" }>): void {
  const why = message === "" ? "it said to wait" : message;
  const most = draft.run.spec.waitingDeadlineMs;
  // Nobody waits for the answer of those that are only told.
  if (call.when === "onFailure") end(draft, call, "Done", why);
  else if (draft.now - epoch(call.since) >= most) end(draft, call, "Error", `it has held for ${formatDuration(most)}: ${text(why)}`);
  else {
    const nextAt = iso(draft.now + forMs);
    const event = call.why === why ? "" : `${hookTitle(draft.run, call)} holds: ${text(why)}`;
    put(draft, { ...call, phase: "Held", why, errors: 0, nextAt }, event);
    wakeAt(draft, draft.now + forMs);
  }
}

function retry(draft: Draft, call: HookCall, { message, again }: Extract<HookAnswer, { kind: "error" }>): void {
  const errors = call.errors + 1;
  if (!again || errors >= MOST_ERRORS) {
    const often = errors === 1 ? "" : ` (asked ${errors} times)`;
    end(draft, { ...call, errors }, "Error", `${text(message)}${often}`);
    return;
  }
  const wait = FIRST_RETRY_MS * RETRY_FACTOR ** (errors - 1);
  put(
    draft,
    { ...call, phase: "Waiting", why: message, errors, nextAt: iso(draft.now + wait) },
    `${hookTitle(draft.run, call)}: ${text(message)}`,
  );
  wakeAt(draft, draft.now + wait);
}

/** Failed where the policy is to go on all the same. */
export function isToleratedHook(run: Run, { phase }: Pick<HookCall, "phase">): boolean {
  return run.spec.onFailure.action === "Continue" && phase === "Failed";
}

/** Over, and not as it should be; nobody has accepted it. Those that are only told are recorded, and change nothing. */
export function isBadHook(call: HookCall): boolean {
  return call.when !== "onFailure" && (call.phase === "Failed" || call.phase === "Error") && call.accepted === undefined;
}

/** What a hook said fails the run goes by the policy; one that cannot be asked says nothing of the release: somebody is asked. */
export function judgeHooks(draft: Draft): void {
  const bad = (draft.run.hooks ?? []).filter((call) => isBadHook(call) && !isToleratedHook(draft.run, call));
  const failed = bad.find((call) => call.phase === "Failed");
  if (failed !== undefined) {
    const ask = "`/retry` asks again, `/resume` goes on all the same (maintain), `/abort` ends the run";
    failRun(draft, `${hookTitle(draft.run, failed)} failed the run: ${text(failed.why)}`, ask);
    return;
  }
  const [first] = bad;
  if (first === undefined) return;
  const ask = "`/retry` asks again, `/resume` goes on without its consent, `/abort` ends the run";
  pause(draft, "Undecided", "stagecoach", `${hookTitle(draft.run, first)} gives no answer to go by: ${text(first.why)}`, ask);
}

export function failedHooks(run: Run): string[] {
  return (run.hooks ?? []).flatMap((call) => (isBadHook(call) && isToleratedHook(run, call) ? [hookTitle(run, call)] : []));
}

/** `/resume`: those that had ended badly when it was written do not hold any more. */
export function acceptHooks(draft: Draft, command: Command): string[] {
  const accepted: string[] = [];
  for (const call of draft.run.hooks ?? []) {
    if (!isBadHook(call) || epoch(call.endedAt ?? draft.at) > epoch(command.createdAt) + 999) continue;
    const title = hookTitle(draft.run, call);
    put(draft, { ...call, accepted: { by: command.actor, at: draft.at } }, `${title} is passed over by ${command.actor}`);
    accepted.push(title);
  }
  return accepted;
}

/** `/retry`: those that ended badly are asked anew, with an event of their own. */
export function retryHooks(draft: Draft): string[] {
  const again: string[] = [];
  for (const call of draft.run.hooks ?? []) {
    if (!isBadHook(call)) continue;
    callHook(draft, call, call.attempt + 1);
    again.push(hookTitle(draft.run, call));
    if (call.stage < draft.run.stage) change(draft, { stage: call.stage });
  }
  return again;
}
