/** What the bench of scale and its replicas know of each other. */

export interface ScaleWorld {
  url: string;
  home: string;
  secret: string;
  installations: number;
  repos: number;
  rollouts: number;
  /** Calls to GitHub of a round, one after the other, and how long each takes. */
  calls: number;
  callMs: number;
}

export interface ScaleReport {
  owned: number;
  rounds: number;
  /** Repositories that a round is due for, or under way. */
  due: number;
  /** Megabytes resident. */
  memory: number;
  /** Milliseconds of a processor so far. */
  cpuMs: number;
  /** Deliveries that a round was asked for. */
  heard: number;
}

export const nameOf = (n: number, installations: number): string => `org-${n % installations}/fleet-${n}`;
