import type { App, Repo, Team, User } from "./model.ts";

export interface Label {
  id: number;
  name: string;
  color: string;
  description: string;
}

/** An issue or, with `pull`, a pull request: GitHub numbers and stores both as one. */
export interface Issue {
  id: number;
  number: number;
  title: string;
  body: string | null;
  state: "open" | "closed";
  locked: boolean;
  user: User;
  via?: App;
  labels: string[];
  assignees: User[];
  createdAt: number;
  updatedAt: number;
  closedAt?: number;
  closedBy?: User;
  pull?: Pull;
}

export interface Pull {
  id: number;
  draft: boolean;
  /** Where the head lives; null: the fork is gone. Absent: in the same repository. */
  headRepo?: Repo | null;
  headRef: string;
  headSha: string;
  /** Who pushed the head last. */
  pusher: User;
  baseRef: string;
  baseSha: string;
  merged?: { at: number; by: User; sha: string };
  reviewers: User[];
  teams: Team[];
  reviews: Review[];
  mergeability?: Mergeability;
  stats?: { base: string; head: string; commits: number; additions: number; deletions: number; files: number };
}

/** What GitHub's background job knows: void once the base or the head has moved. */
export interface Mergeability {
  base: string;
  head: string;
  /** Answers that are still null. */
  nullReads: number;
  result: Promise<{ mergeable: boolean; testMerge?: string; behind: boolean }>;
}

export interface Review {
  id: number;
  user: User;
  byApp: boolean;
  state: "APPROVED" | "CHANGES_REQUESTED" | "COMMENTED" | "DISMISSED" | "PENDING";
  body: string;
  commit: string;
  at?: number;
}

export interface IssueComment {
  id: number;
  issue: number;
  body: string;
  user: User;
  via?: App;
  createdAt: number;
  updatedAt: number;
  reactions: Reaction[];
  /** As `outdated`, when it is hidden. */
  minimized?: string;
}

export const REACTIONS = ["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"] as const;

export interface Reaction {
  id: number;
  user: User;
  content: (typeof REACTIONS)[number];
  at: number;
}
