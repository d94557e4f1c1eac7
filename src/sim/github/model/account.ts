/** Who acts on the embedded GitHub: accounts, Apps with their installations, teams, keys. */

export interface User {
  login: string;
  id: number;
  type: "User" | "Bot" | "Organization";
}

export type Role = "none" | "read" | "triage" | "write" | "maintain" | "admin";
export type Level = "read" | "write";
/** GitHub's names: `contents`, `pull_requests`, `issues`, `checks`, `metadata` … */
export type Permissions = Record<string, Level>;

export interface App {
  id: number;
  slug: string;
  name: string;
  owner: User;
  /** The `…[bot]` account. */
  bot: User;
  /** PEM; what the App's JWT is checked with. */
  publicKey: string;
  /** What it takes people's codes for tokens with. */
  clientSecret: string;
  /** Where people may be led back to with a code, up to ten. */
  callbackUrls: string[];
  permissions: Permissions;
  events: string[];
  createdAt: number;
  /** Where its webhooks go; none: they are only recorded. */
  hook?: { url: string; secret: string } | undefined;
}

export interface Installation {
  id: number;
  account: User;
  app: App;
  permissions: Permissions;
  /** Ids of the chosen repositories. */
  repositories: "all" | Set<number>;
  /** Since when. */
  suspended: number | undefined;
  createdAt: number;
}

export interface Team {
  id: number;
  organization: User;
  slug: string;
  name: string;
  members: Map<number, "member" | "maintainer">;
}

/** A key that commits are signed with. */
export interface SigningKey {
  id: number;
  user: User;
  title: string;
  /** `ssh-ed25519 AAAA…`, without its comment. */
  key: string;
  createdAt: number;
}

/** Who a request comes from. */
export interface Actor {
  /** `client`: an App by its client id and secret. */
  kind: "anonymous" | "user" | "installation" | "app" | "client";
  /** The account that acts; of an anonymous request a placeholder that owns nothing. */
  user: User;
  app?: App;
  installation?: Installation;
  /** Of a person's token that an App got: its installation that sees the repository. Such a token may what both may. */
  installedOn?: (repo: { id: number; owner: User }) => Installation | undefined;
  /** Narrowed permissions of an installation token. */
  permissions?: Permissions;
  /** Narrowed repositories of an installation token, by id. */
  repositories?: ReadonlySet<number>;
  /** What requests are counted under. */
  limitKey: string;
}
