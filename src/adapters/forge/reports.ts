/** What is told on a commit, for `port.ts`: checks and deployments. */
import type { Time } from "../../core/base/time.ts";

/** A check run as we want it to stand. Texts over GitHub's 65,535 characters are the caller's to shorten. */
export interface CheckReport {
  name: string;
  head: string;
  status: "queued" | "in_progress" | "completed";
  /** With completed only. */
  conclusion?: "success" | "failure" | "neutral" | "action_required" | "cancelled";
  title: string;
  summary: string;
  text?: string;
  detailsUrl?: string | undefined;
  /** Somebody asked for it again: it is made as a new one, though one that says the same is there. */
  afresh?: boolean;
  /** Lines from 1. More than 50 go in several requests. */
  annotations?: {
    path: string;
    line: number;
    level: "failure" | "warning" | "notice";
    title?: string;
    message: string;
  }[];
}

export interface CheckSeen {
  name: string;
  /** The App's id, for a check run. */
  app?: number;
  state: "pending" | "success" | "failure" | "neutral";
  /** GitHub's own word: `timed_out`, `action_required`, … */
  detail: string;
  url?: string;
  /** Of a check run. */
  title?: string;
  at: Time;
}
