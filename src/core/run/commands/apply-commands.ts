import { defined } from "../../base/defined.ts";
import type { RunReason } from "../../reasons/run.ts";
import { type Command, commandSpec, hasPermission, notAllowed } from "../../spec/commands.ts";
import { change, type Draft } from "../state/draft.ts";
import { clusterKey } from "../state/names.ts";
import { done, type Reply, refuse, tooEarly } from "../state/reply.ts";
import { isEnded, type Run } from "../state/run.ts";
import { requeueCommand, skipCommand } from "./clusters.ts";
import { haltCommand } from "./halt.ts";
import { hotfixCommand } from "./hotfix.ts";
import { commentOf, isStop, overtakenBy, stopsFirst } from "./order.ts";
import { promoteCommand } from "./promote.ts";
import { retryCommand } from "./retry.ts";
import { rollbackCommand } from "./rollback.ts";
import { rolloutsCommand, rolloutsLooked, wantsRollouts } from "./rollouts.ts";
import { abortCommand, pauseCommand, resumeCommand } from "./steer.ts";

/** Does what people ask, in the order they asked it, what stops first. Each command acts once; its answer is given until nobody asks for it. */
export function applyCommands(draft: Draft): void {
  if (draft.world.commands.length === 0) return;
  const handled = new Map(draft.run.commands.map((command) => [command.id, command]));
  const ordered = new Set<string>();
  let waiting = false;
  for (const command of stopsFirst(draft.world.commands)) {
    const before = handled.get(command.id);
    if (before !== undefined) {
      draft.effects.push({ kind: "Answer", command: command.id, outcome: before.outcome, message: before.message });
      continue;
    }
    if (draft.run.ending?.command?.id === command.id) continue;
    // Answered once Argo CD has been asked: only what stands behind it in its comment waits for that.
    if (draft.run.rolloutOrders?.some((order) => order.command === command.id) === true) {
      ordered.add(commentOf(command));
      continue;
    }
    if (isQuestion(command)) {
      // Anybody who can read may ask, as often as they like: an answer is given, and nothing is written down.
      draft.effects.push({ kind: "Answer", command: command.id, outcome: "done", message: statusOf(draft.run) });
      continue;
    }
    if (command.late === true) {
      // What was written before the run was no question to it.
      if (tooEarly(command, draft.run.startedAt))
        draft.effects.push({
          kind: "Answer",
          command: command.id,
          outcome: "refused",
          message: { code: "COMMAND_TOO_EARLY", before: "run" },
        });
      else record(draft, command, { outcome: "refused", message: { code: "COMMAND_TOO_LATE" } }, true);
      continue;
    }
    // Those after one that cannot be judged yet wait for it: they are done in order. What stops waits for nobody.
    if (!isStop(command) && (waiting || ordered.has(commentOf(command)))) continue;
    const denied = notAllowed(command);
    const reply = denied === undefined ? act(draft, command) : refuse(denied);
    if (reply === "later") waiting = true;
    else record(draft, command, reply, denied !== undefined);
  }
}

/** Changes nothing, whoever asks. */
function isQuestion({ name, permission }: Command): boolean {
  return (name === "status" || name === "plan" || name === "help") && hasPermission(permission, commandSpec(name).who);
}

function record(draft: Draft, command: Command, reply: Exclude<Reply, "later">, denied: boolean): void {
  const entry = { id: command.id, text: command.text, actor: command.actor, at: draft.at, ...reply };
  const commands = [...draft.run.commands, entry];
  draft.effects.push({ kind: "Answer", command: command.id, ...reply });
  if (!denied) {
    change(draft, { commands }, reply.outcome === "done" ? { code: "COMMAND_GIVEN", by: command.actor, text: command.text } : undefined);
    return;
  }
  // Anybody may write comments: what they may not do must not cost a journal commit each.
  draft.run = { ...draft.run, commands };
  draft.observation = true;
}

function act(draft: Draft, command: Command): Reply {
  if (command.former !== undefined && command.name !== "halt") return refuse(ofFormer(draft.run, command.former));
  const whole = meantForClusters(draft.run, command);
  if (whole !== undefined) return refuse(whole);
  if (tooEarly(command, draft.run.startedAt)) return refuse({ code: "COMMAND_TOO_EARLY", before: "run" });
  const stop = overtakenBy(command, draft.world.commands);
  if (stop !== undefined) return refuse({ code: "COMMAND_OVERTAKEN", by: stop.actor, text: stop.text });
  // A halt binds every run, so it is heard on an ended one, too.
  if (command.name === "halt") return haltCommand(draft, command);
  if (command.name === "rollback") return rollbackCommand(draft, command);
  const rollouts = wantsRollouts(command);
  if (command.name === "retry" && !rollouts) return retryCommand(draft, command);
  if (isEnded(draft.run)) return refuse({ code: "RUN_HAS_ENDED", phase: draft.run.phase });
  if (rollouts) return withRollouts(draft, command);
  if (draft.run.ending !== undefined && command.name !== "skip") return refuse({ code: "RUN_IS_ENDING", because: draft.run.ending.reason });
  switch (command.name) {
    case "pause":
      return pauseCommand(draft, command);
    case "resume":
      return resumeCommand(draft, command);
    case "abort":
      return abortCommand(draft, command);
    case "promote":
      return promoteCommand(draft, command);
    case "skip":
      return skipCommand(draft, command);
    case "requeue":
      return requeueCommand(draft, command);
    case "hotfix":
      return hotfixCommand(draft, command);
    default:
      throw new Error(`/${command.name} changes nothing`);
  }
}

/** What is for the whole run, and names clusters instead of a reason, was meant for those alone. */
function meantForClusters(run: Run, { name, args }: Command): RunReason | undefined {
  if (commandSpec(name).words !== "note" || args.length === 0) return undefined;
  const isCluster = (word: string) => !("error" in clusterKey(run, word.replace(/,$/, "")));
  return args.every(isCluster) ? { code: "COMMAND_FOR_WHOLE_RUN", command: name, names: args } : undefined;
}

/** What binds the whole repo may be said anywhere; all else is said to the run that it is for. */
function ofFormer({ rollout, number, trigger }: Run, former: number): RunReason {
  return defined({ code: "COMMAND_OF_FORMER_RUN" as const, rollout, former, last: number, pull: trigger.pull });
}

function statusOf({ phase, why }: Run): RunReason {
  return { code: "RUN_STATUS", phase, because: why };
}

/** `/resume --rollouts` of a paused run resumes the run as well; all others are about the Rollouts alone. */
function withRollouts(draft: Draft, command: Command): Reply {
  if (command.name !== "resume" || draft.run.paused === undefined) return rolloutsCommand(draft, command);
  if (!rolloutsLooked(draft, command)) return "later";
  const resumed = resumeCommand(draft, command);
  if (resumed === "later" || resumed.outcome === "refused") return resumed;
  const reply = rolloutsCommand(draft, command, resumed.message);
  return reply === "later" ? reply : done({ code: "RESUMED_WITH_ROLLOUTS", resumed: resumed.message, rollouts: reply.message });
}
