import { timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** What a request to the set-up page says of where it comes from. */
interface SetupRequest {
  method: string;
  headers: IncomingHttpHeaders;
}

/** Names by which a browser on this computer, or one behind an SSH tunnel to it, calls this computer. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/;

/**
 * Why a request to the set-up page is refused; undefined: it may go on. Any page in the person's browser can send requests
 * here, also under a name of its own that it lets point to this computer, so three things must fit: the name asked for is this
 * computer's, nothing but reading is asked for, and another site may at most lead a whole window here.
 */
export function whyRefused({ method, headers }: SetupRequest): string | undefined {
  const { host, origin } = headers;
  if (host === undefined || !LOOPBACK.test(host.toLowerCase()) || !URL.canParse(`http://${host}`))
    return "this page answers to this computer's own name only, such as 127.0.0.1";
  if (method !== "GET" && method !== "HEAD") return "this page is only read";
  // GitHub leads back here, and a link may lead here: as a window of its own, never inside another page.
  const isWindow = headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
  const site = headers["sec-fetch-site"];
  const fits = site === undefined || site === "same-origin" || site === "none" || isWindow;
  const isOwn = origin === undefined || origin === `http://${host}` || (origin === "null" && isWindow);
  return fits && isOwn ? undefined : "another site asked for this page";
}

/** Whether a way back from GitHub is the one that began on this page: in a time that tells nothing. */
export function isSameState(given: string | null, ours: string): boolean {
  const [a, b] = [Buffer.from(given ?? ""), Buffer.from(ours)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const KEY_COOKIE = "stagecoach-setup";

/** Keeps the key out of the address after the first look: pages are linked, and addresses get into histories. */
export function keyCookie(key: string): string {
  return `${KEY_COOKIE}=${key}; Path=/; HttpOnly; SameSite=Lax`;
}

/** Whether a browser came by the address that was printed. */
export function hasKey(cookies: string | undefined, key: string): boolean {
  const own = (cookies ?? "").split(/;\s*/).find((cookie) => cookie.startsWith(`${KEY_COOKIE}=`));
  return isSameState(own?.slice(KEY_COOKIE.length + 1) ?? null, key);
}

/** The address to listen on: of this computer, whatever `HOST` says, since who reaches the page may create the App and hold its key. */
export function setupHost(wanted: string | undefined): string {
  if (wanted === "localhost" || wanted === "::1") return wanted;
  return wanted !== undefined && /^127(\.\d{1,3}){3}$/.test(wanted) ? wanted : "127.0.0.1";
}
