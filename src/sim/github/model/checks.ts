import type { App, User } from "./account.ts";

/** All check runs of one App at one commit. */
export interface CheckSuite {
  id: number;
  app: App;
  headSha: string;
  headBranch: string | null;
  createdAt: number;
  updatedAt: number;
  /** Asked for again: queued until one of its runs says something new. */
  asked?: boolean;
}

export interface CheckRun {
  id: number;
  name: string;
  headSha: string;
  app: App;
  suite: CheckSuite;
  externalId: string | null;
  detailsUrl: string | null;
  status: "queued" | "in_progress" | "completed";
  conclusion: string | null;
  startedAt: number;
  completedAt?: number;
  output: { title: string | null; summary: string | null; text: string | null };
  annotations: Annotation[];
}

export interface Annotation {
  path: string;
  start_line: number;
  end_line: number;
  start_column: number | null;
  end_column: number | null;
  annotation_level: "notice" | "warning" | "failure";
  title: string | null;
  message: string;
  raw_details: string | null;
}

export interface Status {
  id: number;
  sha: string;
  context: string;
  state: "error" | "failure" | "pending" | "success";
  description: string | null;
  targetUrl: string | null;
  creator: User;
  at: number;
}

export interface Deployment {
  id: number;
  sha: string;
  ref: string;
  task: string;
  environment: string;
  description: string | null;
  payload: unknown;
  transient: boolean;
  production: boolean;
  creator: User;
  via?: App;
  createdAt: number;
  updatedAt: number;
  statuses: DeploymentStatus[];
}

export interface DeploymentStatus {
  id: number;
  state: "error" | "failure" | "inactive" | "in_progress" | "queued" | "pending" | "success";
  description: string;
  environment: string;
  environmentUrl: string;
  logUrl: string;
  creator: User;
  via?: App;
  at: number;
}
