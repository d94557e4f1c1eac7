/** Tells a host's breaker for which repository a request is, where the address does not: what asks through a breaker does not send it on. */
export const ASKER_HEADER = "x-stagecoach-asker";
