/** A run, or several, as documents for programs: what `-o json` prints is what the API answers. Their shape is in `run-schema.ts`. */
import { iso } from "../../base/time.ts";
import type { RunDocument, RunList } from "./run-schema.ts";
import type { RunModel } from "./types.ts";

export const API_VERSION: RunDocument["apiVersion"] = "stagecoach.dev/v1";

/** What is known of a run besides its model. */
interface Around {
  /** `acme/config` */
  repository?: string | undefined;
  /** A release that was merged since and started no run. */
  refused?: RunDocument["refused"];
}

/** `asOf`: epoch milliseconds. */
export function runDocument(model: RunModel, asOf: number, { repository, refused }: Around = {}): RunDocument {
  return { apiVersion: API_VERSION, ...model, kind: "Run", repository, asOf: iso(asOf), refused };
}

/** Several runs without what is below them. */
export function runList(runs: readonly { model: RunModel; around?: Around }[], asOf: number): RunList {
  return { apiVersion: API_VERSION, kind: "RunList", asOf: iso(asOf), items: runs.map(({ model, around = {} }) => itemOf(model, around)) };
}

function itemOf(model: RunModel, { repository, refused }: Around): RunList["items"][number] {
  const { children: _, actions: __, controlPlanes: ___, ...rest } = model;
  return { ...rest, kind: "Run", repository, refused };
}
