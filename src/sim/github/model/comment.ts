/** What people leave on issues: labels, comments, reactions. */
import type { App, User } from "./account.ts";

export interface Label {
  id: number;
  name: string;
  color: string;
  description: string;
}

/** The last change of a text: REST tells it by a time in whole seconds alone, GraphQL by this. */
export interface Edited {
  at: number;
  by: User;
}

export interface IssueComment {
  id: number;
  issue: number;
  body: string;
  user: User;
  via?: App;
  createdAt: number;
  updatedAt: number;
  edited?: Edited;
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
