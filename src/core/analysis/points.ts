/** What was measured as points of a chart: those values alone that are one number. Called by the engines, which have shown and masked them before. */
import { epoch, iso, type Time } from "../base/time.ts";

/** The last ones: as many as Argo Rollouts keeps. */
const MOST_POINTS = 10;
/** `0.02`, or the one number of a vector as Prometheus answers it: `[0.02]`. */
const NUMBER = /^\s*\[?\s*(-?\d[\d.]*(?:[eE][-+]?\d+)?)\s*\]?\s*$/;

interface Measured {
  phase: string;
  value?: string | undefined;
  startedAt?: string | undefined;
  finishedAt?: string | undefined;
}

export interface Point {
  at: Time;
  value: number;
  phase: string;
}

/** undefined: none of them is a number with a time. */
export function pointsOf(measurements: readonly Measured[]): Point[] | undefined {
  const points = measurements.slice(-MOST_POINTS).flatMap(({ phase, value, startedAt, finishedAt }) => {
    const [, written] = NUMBER.exec((value ?? "").slice(0, 60)) ?? [];
    const [at, number] = [epoch(finishedAt ?? startedAt ?? ""), Number(written)];
    return written !== undefined && Number.isFinite(number) && Number.isFinite(at) ? [{ at: iso(at), value: number, phase }] : [];
  });
  return points.length === 0 ? undefined : points;
}
