/** A run, or several, as documents for programs: what `-o json` prints is what the API answers. Their shape is in `schema/run.ts`. */
import { iso } from "../../base/time.ts";
import type { RolloutList, RunDocument, RunSummary } from "./schema/run.ts";
import type { RunModel } from "./types.ts";

export const API_VERSION: RunDocument["apiVersion"] = "stagecoach.dev/v1";

/** What is known of a run besides its model. */
interface Around {
  /** `acme/config` */
  repository?: string | undefined;
  /** A release that was merged since and started no run. */
  refused?: RunDocument["refused"];
  /** Commands that were read and of which the run knows nothing, or nothing yet. */
  heard?: RunDocument["commands"] | undefined;
}

type ListedRun = NonNullable<ListedRollout["run"]>;
export type ListedRollout = RolloutList["items"][number];

/** `asOf`: epoch milliseconds. */
export function runDocument(model: RunModel, asOf: number, { repository, refused, heard = [] }: Around = {}): RunDocument {
  const known = new Set(model.commands.map(({ comment }) => comment));
  const commands = [...model.commands, ...heard.filter(({ comment }) => !known.has(comment))];
  return { apiVersion: API_VERSION, ...model, commands, kind: "Run", repository, asOf: iso(asOf), refused };
}

/** The same without what is below it. */
export function runSummary(model: RunModel, asOf: number): RunSummary {
  return { apiVersion: API_VERSION, ...listedRun(model), asOf: iso(asOf) };
}

export function rolloutList(items: ListedRollout[], asOf: number): RolloutList {
  return { apiVersion: API_VERSION, kind: "RolloutList", asOf: iso(asOf), items };
}

export function listedRun(model: RunModel): ListedRun {
  const { children: _, actions: __, controlPlanes: ___, deeds: ____, commands: _____, seen: ______, ...rest } = model;
  return { ...rest, kind: "Run" };
}
