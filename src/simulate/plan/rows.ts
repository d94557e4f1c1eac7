import { epoch } from "../../core/base/time.ts";
import { BEGINS } from "./simulate.ts";
import type { Moment } from "./timeline.ts";

/** What one batch went through. Times in milliseconds since the run began. */
export interface Row {
  kind: "batch";
  /** From 1: the run, and 2 for the rollback that followed it. */
  run: number;
  stage: string;
  batch: number;
  clusters: string[];
  /** Of a canary step: percent. */
  weight?: number | undefined;
  opened?: number;
  merged?: number;
  healthy?: number;
  settled?: number;
  failed?: { at: number; why: string; clusters: string[] };
  waits: { forMs: number; why: string }[];
}

/** Clusters of a stage that were put off to its end. */
export interface PutOff {
  kind: "putOff";
  run: number;
  stage: string;
  clusters: string[];
}

/** So many batches that are not shown. */
export interface Gap {
  kind: "gap";
  run: number;
  stage: string;
  batches: number;
  clusters: number;
}

/** The batches of a timeline in the order in which they began, with what stands between them. */
export function rowsOf(timeline: readonly Moment[]): (Row | PutOff)[] {
  const rows: (Row | PutOff)[] = [];
  const late = new Map<string, PutOff>();
  let byBatch = new Map<number, Row>();
  let run = 0;
  for (const moment of timeline) {
    if (moment.what === "started" || moment.what === "rollback") {
      run += 1;
      byBatch = new Map();
    }
    const { stage = "", clusters = [], batch } = moment;
    const place = `${run} ${stage}`;
    if (moment.what === "putOff")
      late.set(place, { kind: "putOff", run, stage, clusters: [...(late.get(place)?.clusters ?? []), ...clusters] });
    if (batch === undefined) continue;
    let row = byBatch.get(batch);
    if (row === undefined) {
      row = { kind: "batch", run, stage, batch, clusters, weight: moment.weight, waits: [] };
      byBatch.set(batch, row);
      rows.push(...takeFrom(late, place), row);
    }
    note(row, moment, epoch(moment.at) - BEGINS);
  }
  return [...rows, ...late.values()];
}

/** A run says at its start who is put off; it is shown where the stage begins. */
function takeFrom(late: Map<string, PutOff>, place: string): PutOff[] {
  const found = late.get(place);
  late.delete(place);
  return found === undefined ? [] : [found];
}

function note(row: Row, { what, why = "", clusters = [], at: since, until = since }: Moment, at: number): void {
  if (what === "opened") row.opened ??= at;
  else if (what === "merged") row.merged ??= at;
  else if (what === "healthy") row.healthy = at;
  else if (what === "settled") row.settled = at;
  else if (what === "failed")
    row.failed = { at: row.failed?.at ?? at, why: row.failed?.why ?? why, clusters: [...(row.failed?.clusters ?? []), ...clusters] };
  else if (what === "waits") row.waits.push({ forMs: epoch(until) - epoch(since), why });
}

/** At the beginning and the end of each stage so many batches are shown, where there are too many. */
const EDGE = 3;

/** At most about `most` rows: of long stages the middle is left out, but for what failed there. */
export function shortenRows(rows: readonly (Row | PutOff)[], most: number): (Row | PutOff | Gap)[] {
  if (rows.length <= most) return [...rows];
  const stages: (Row | PutOff)[][] = [];
  for (const row of rows) {
    const last = stages.at(-1);
    if (last?.[0]?.stage === row.stage && last[0].run === row.run) last.push(row);
    else stages.push([row]);
  }
  const shown: (Row | PutOff | Gap)[] = [];
  for (const stage of stages) {
    for (const [place, row] of stage.entries()) {
      const inside = place >= EDGE && place < stage.length - EDGE;
      if (inside && row.kind === "batch" && row.failed === undefined) leaveOut(shown, row);
      else shown.push(row);
    }
  }
  return shown;
}

function leaveOut(shown: (Row | PutOff | Gap)[], row: Row): void {
  const last = shown.at(-1);
  if (last?.kind !== "gap") shown.push({ kind: "gap", run: row.run, stage: row.stage, batches: 1, clusters: row.clusters.length });
  else {
    last.batches += 1;
    last.clusters += row.clusters.length;
  }
}
