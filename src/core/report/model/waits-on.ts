/** Who or what outside has to act so that a run goes on, and the state that it wears meanwhile. Called by the builders of the model, and by lists. */
import { type AnyReason, causesOf } from "../../base/reason.ts";
import type { Time } from "../../base/time.ts";
import type { Next, Run } from "../../run/state/run.ts";
import { entryOf } from "../reasons/say.ts";
import { runTone } from "./states.ts";
import type { ModelNode, WaitsOn } from "./types.ts";

const MOST_TEAMS = 5;
const ANYBODY: WaitsOn = { kind: "person", who: [], says: "for you" };

/** From what is said of it: teams where only they may, a window, who halted it; else a person, where only a person ends it. */
export function waitsOn(why: AnyReason, next: Next | null): WaitsOn | undefined {
  for (const { code, ...data } of causesOf(why)) {
    if (code === "APPROVAL_WANTED") return forPeople((data as { teams?: unknown }).teams);
    if (code === "WINDOW_SHUT") return { kind: "window", who: [], says: "for a window" };
    if (code === "CLUSTERS_HALTED") return { kind: "halt", who: [`@${String(data["by"])}`], says: "for a halt to end" };
  }
  return next !== null && entryOf(next.what)?.by === "person" ? ANYBODY : undefined;
}

/** A journal that was changed by hand may hold anything. */
function forPeople(teams: unknown): WaitsOn {
  const who = Array.isArray(teams) ? teams.slice(0, MOST_TEAMS).map((team) => `@${String(team)}`) : [];
  return who.length === 0 ? ANYBODY : { kind: "person", who, says: `for ${who.join(" or ")}` };
}

/** How a run stands, as people read it. What puts old values back says so, whoever it waits for. */
export function standingOf(
  run: Pick<Run, "phase" | "why" | "next" | "ending" | "rollback">,
): Pick<ModelNode, "state" | "tone" | "waitsOn"> {
  const { phase } = run;
  if (phase === "Paused") return { state: phase, tone: runTone(phase), waitsOn: run.ending === undefined ? ANYBODY : undefined };
  // Ended by `/rollback`: what became of it says more than how.
  if (phase === "Aborted" && run.rollback !== undefined) return { state: "RolledBack", tone: "warn" };
  const on = phase === "Progressing" || phase === "RollingBack" ? waitsOn(run.why, run.next) : undefined;
  if (on === undefined || phase === "RollingBack") return { state: phase, tone: runTone(phase), waitsOn: on };
  return { state: "Waiting", tone: "warn", waitsOn: on };
}

/** Since when it stands so: a run that waits does since what waits was opened, as its phase does not change with that. */
export function sinceOf(run: Pick<Run, "phase" | "since" | "why" | "next" | "ending" | "rollback" | "batches">): Time {
  if (standingOf(run).state !== "Waiting") return run.since;
  const held = run.batches.filter((batch) => batch.phase === "Open" && waitsOn(batch.why, batch.next) !== undefined);
  return held[0]?.since ?? run.since;
}
