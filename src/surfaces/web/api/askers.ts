/** What is known of who asks before GitHub says what they see: a token, a session, whom a proxy knows, whether they are on this machine. */
import type { IncomingHttpHeaders } from "node:http";
import { personOfProxy } from "../login/proxy.ts";
import type { Anonymous, WebSource } from "../source.ts";
import { type Asker, Denied, isLocal } from "./viewers.ts";

export interface Asking {
  headers: IncomingHttpHeaders;
  /** Each value by itself: `headers` joins them. */
  headersDistinct?: NodeJS.Dict<string[]>;
  socket: { remoteAddress?: string | undefined };
}

/** Who sees everything without a name. */
export function anonymousOf({ anonymous, login, proxy }: WebSource): Anonymous {
  return anonymous ?? (login === undefined && proxy === undefined ? "Loopback" : "Nobody");
}

/** `cookie`: the browser has to have it from now on. */
type Known = Asker & { cookie?: string | undefined };

export function openAskers({ login, proxy }: WebSource) {
  /** Throws Denied. */
  return async function askerOf(authorization: string | undefined, incoming: Asking | undefined): Promise<Known> {
    const { headers = {}, socket } = incoming ?? {};
    const address = socket?.remoteAddress ?? "";
    const asker = { authorization, address, isLocal: incoming !== undefined && isLocal(incoming) };
    if (authorization !== undefined) return asker;
    const place = login?.placeOf(headers.host);
    const signed = place && (await login?.sessions.of(headers, place));
    if (signed === "later") throw new Denied("UNAVAILABLE");
    if (signed !== undefined) return { ...asker, session: signed.session.token, cookie: signed.cookie };
    const person = proxy && personOfProxy(proxy, headers, address);
    if (proxy === undefined || person === undefined) return asker;
    // A second name is somebody's own, which the proxy has left beside its own.
    const isTwice = (incoming?.headersDistinct?.[proxy.header]?.length ?? 1) > 1;
    if (person === "refused" || isTwice) throw new Denied("UNAUTHENTICATED");
    return { ...asker, proxied: { ...person, sees: proxy.sees } };
  };
}
