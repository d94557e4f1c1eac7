/** What people did in a run, and to what end. Called by `run-model.ts`. */
import { epoch } from "../../base/time.ts";
import type { Run } from "../../run/state/run.ts";
import { plainSentence } from "../reasons/say.ts";
import type { RunModel } from "./types.ts";

const MOST_ACCOUNTS = 5;
const MOST_COMMANDS = 20;

/** GitHub tells of a merge to the second, rounded down: what was done to let it be merged may be later by less than this. */
const ROUNDED_DOWN_MS = 999;

/** Who released, who merged by hand, and every command that was done, in order: in one second a merge comes last. */
export function deedsOf(run: Run): RunModel["deeds"] {
  const first = released(run);
  const deeds = [{ deed: first, order: epoch(first.at) }];
  for (const { merged, pull } of run.batches) {
    if (merged === undefined || pull === undefined || merged.by === "" || merged.by.endsWith("[bot]")) continue;
    const deed = { at: merged.at, by: `@${merged.by}`, did: `merged #${pull.number}` };
    deeds.push({ deed, order: epoch(merged.at) + ROUNDED_DOWN_MS });
  }
  for (const { outcome, actor, text, at } of run.commands)
    if (outcome === "done") deeds.push({ deed: { at, by: `@${actor}`, did: text }, order: epoch(at) });
  return deeds.sort((a, b) => a.order - b.order).map(({ deed }) => deed);
}

/** The last ones, and what became of each; one that ends the run is answered once nothing of it is open any more. */
export function commandsOf(run: Run): RunModel["commands"] {
  const judged = run.commands.slice(-MOST_COMMANDS).map(({ id, text, actor, at, outcome, message }) => ({
    ...{ comment: commentOf(id), text, by: `@${actor}`, at, says: plainSentence(message, run) },
    state: outcome === "done" ? ("Done" as const) : ("Refused" as const),
  }));
  const { command, by, at, reason } = run.ending ?? {};
  if (command === undefined || by === undefined || at === undefined || reason === undefined) return judged;
  const says = plainSentence(reason, run);
  return [...judged, { comment: commentOf(command.id), text: command.text, by: `@${by}`, at, state: "Waiting", says }];
}

function commentOf(id: string): string {
  return id.split("#")[0] ?? "";
}

/** Without a PR an account is named only where GitHub knows one: what stands in a commit anybody may have typed. */
function released({ trigger: { pull, at, author, accounts } }: Run): RunModel["deeds"][number] {
  const place = pull === undefined ? "" : ` (#${pull})`;
  if (accounts === undefined) return { at, by: `@${author}`, did: `merged the release${place}` };
  const known = accounts.slice(0, MOST_ACCOUNTS).map((one) => `@${one}`);
  if (known.length > 0) return { at, by: known.join(", "), did: `brought the release in${place}` };
  return { at, by: `somebody whom GitHub does not know (the commit says ${author})`, did: `brought the release in${place}` };
}

/** The `/retry` of what failed again: who gave it is told so, instead of the same words a second time. */
export function triedBefore({ commands, batches }: Run): NonNullable<RunModel["pause"]>["tried"] {
  const open = batches.filter(({ phase }) => phase !== "Settled" && phase !== "Closed");
  const failedAgain = open.some(({ targets }) => targets.some(({ phase, retriedAt }) => phase === "Failed" && retriedAt !== undefined));
  const tried = failedAgain ? commands.findLast(({ outcome, text }) => outcome === "done" && text.startsWith("/retry")) : undefined;
  return tried && { text: tried.text, by: tried.actor };
}
