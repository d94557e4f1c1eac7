/**
 * Who is signed in: a sealed cookie holds all of a session, so that any replica serves it.
 *
 * Keeps true: a session ends where GitHub's token does, or at its own end; a token about to end is made anew once, however many requests
 * come with the same cookie; a cookie that is no good is never taken from a browser, which may have a newer one by now.
 */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import type { UserToken, UserTokens } from "../../../adapters/forge/github/user-tokens.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { cookieIn, type Place, setCookie } from "./place.ts";
import type { Sealed } from "./sealed.ts";

const COOKIE = "stagecoach-session";
const PURPOSE = "session";
/** A token is made anew so long before its end, or after. All replicas do it at the same time: the old one ends with that. */
const BEFORE_END_MS = 60_000;
/** Requests that are under way with the cookie of before get the new one so long. */
const KEPT_MS = 60_000;
/** Another replica may have made it anew just now: its cookie then comes with the next request. */
const ELSEWHERE_MS = 15_000;
const MOST_KEPT = 5_000;

const sessionSchema = z.object({
  token: z.string(),
  tokenEndsAt: z.number().optional(),
  refresh: z.string().optional(),
  endsAt: z.number(),
});

type Session = z.output<typeof sessionSchema>;

/** `cookie`: the browser has to have it from now on. */
interface Signed {
  session: Session;
  cookie?: string | undefined;
}

export interface Sessions {
  /** A new one; gives the cookie. */
  begin(token: UserToken, place: Place): Promise<string>;
  /** `later`: GitHub does not say just now. undefined: nobody is signed in. */
  of(headers: IncomingHttpHeaders, place: Place): Promise<Signed | "later" | undefined>;
  /** The cookie that takes a session away. */
  end(place: Place): string;
}

type Renewed = Session | "ended" | "later";

interface SessionOptions {
  lastsMs: number;
  now: () => number;
  onRefused?: ((code: string) => void) | undefined;
}

export function openSessions(sealed: Sealed, tokens: UserTokens, { lastsMs, now, onRefused }: SessionOptions): Sessions {
  const renewing = new BoundedMap<string, { outcome: Promise<Renewed>; until: number }>(MOST_KEPT);
  const refused = new BoundedMap<string, number>(MOST_KEPT);
  const write = async (session: Session, place: Place) =>
    setCookie(COOKIE, await sealed.seal(PURPOSE, session, session.endsAt), place, session.endsAt);

  /** `before`: its refresh token is good once, so the first who comes with it asks, and the others get what it got. */
  async function renewed(before: Session, refresh: string): Promise<Renewed> {
    const key = createHash("sha256").update(refresh).digest("base64url");
    const known = renewing.get(key);
    if (known !== undefined && known.until > now()) return await known.outcome;
    for (const [other, { until }] of renewing) if (until <= now()) renewing.delete(other);
    const outcome = askAnew(before, refresh, key);
    renewing.set(key, { outcome, until: now() + KEPT_MS });
    if ((await outcome) === "later") renewing.delete(key);
    return await outcome;
  }

  async function askAnew(before: Session, refresh: string, key: string): Promise<Renewed> {
    const answer = await tokens.renew(refresh);
    if (answer === "unknown") return "later";
    if (!("refused" in answer)) return sessionFrom(answer, before.endsAt);
    if (answer.refused !== "bad_refresh_token") onRefused?.(answer.refused);
    const first = refused.get(key) ?? now();
    refused.set(key, first);
    return now() - first < ELSEWHERE_MS ? "later" : "ended";
  }

  return {
    begin: (token, place) => write(sessionFrom(token, now() + lastsMs), place),
    async of(headers, place) {
      const text = cookieIn(headers, COOKIE, place);
      const read = text === undefined ? undefined : sessionSchema.safeParse(await sealed.open(PURPOSE, text));
      if (read?.success !== true || read.data.endsAt <= now()) return undefined;
      const { data: session } = read;
      const { tokenEndsAt, refresh } = session;
      if (tokenEndsAt === undefined || tokenEndsAt - BEFORE_END_MS > now()) return { session };
      if (refresh === undefined) return tokenEndsAt > now() ? { session } : undefined;
      const next = await renewed(session, refresh);
      if (next === "ended") return undefined;
      return next === "later" ? "later" : { session: next, cookie: await write(next, place) };
    },
    end: (place) => setCookie(COOKIE, "", place, 0),
  };
}

function sessionFrom({ token, endsAt: tokenEndsAt, refresh }: UserToken, endsAt: number): Session {
  return { token, tokenEndsAt, refresh, endsAt };
}
