/** What people leave on issues: labels, comments, reactions. */
import type { App, User } from "./account.ts";

export interface Label {
  id: number;
  name: string;
  color: string;
  description: string;
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
