/** How near the limits of the hosting service an adapter is, for `port.ts`. */

/** How much of the hour's calls is left, as the last answer said. */
export interface RateSeen {
  limit: number;
  remaining: number;
  /** Epoch milliseconds. */
  resetAt: number;
}

/** All in the machine's time. */
export interface Pressure {
  /** Requests left this hour, of how many; absent until the host has said so. */
  primary?: RateSeen;
  /** The same of GraphQL, which is counted apart. */
  graphql?: RateSeen;
  /**
   * Epoch milliseconds until which the host has asked for silence, of all requests or of those of one kind whose hour is used
   * up; what would be sent before then fails as RateLimited.
   */
  silentUntil?: number;
  /** What each request waits now, in milliseconds, so that what is left lasts to the end of the hour. 0: not slowed. */
  spacingMs: number;
}
