/** Who is behind commits, for `port.ts`. Accounts by login. */

export interface CommitPeople {
  /** Whom GitHub links its author and committer to, by addresses that somebody typed. */
  linked: string[];
  /** Who brought it to the branch, by GitHub's own word. */
  pusher?: string | undefined;
  /** The commit, where nobody can be held to be its author: see PullPeople. */
  unlinked: string[];
}

export interface PullPeople {
  linked: string[];
  /**
   * Commits of which GitHub links the author or the committer to no account; and, where it does not say who pushed them, those that it does not
   * call Verified.
   */
  unlinked: string[];
  /** Everybody who pushed to its branch. undefined: GitHub does not say, or not all of them. */
  pushers?: string[] | undefined;
}

/** Who put a label on a pull request last. */
export interface Labelled {
  login: string;
  isBot: boolean;
  /** The present head was there before. undefined: GitHub does not say when it came. */
  sawHead?: boolean | undefined;
}
