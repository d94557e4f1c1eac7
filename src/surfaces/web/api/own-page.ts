/**
 * Whether what changes something was sent by a page of ours. A browser sends what it knows of somebody along with what any page sends here; only
 * one of the same origin may set these headers, and the browser itself says from where it comes. A token is given by hand: it is asked nothing.
 */
import type { IncomingMessage } from "node:http";

/** `publicUrl`: where people reach the page through what stands in front of it. */
export function isFromOwnPage({ headers }: Pick<IncomingMessage, "headers">, publicUrl?: string): boolean {
  const { origin, host } = headers;
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") return false;
  if (headers["stagecoach-page"] !== "1" || origin === undefined) return false;
  const from = URL.parse(origin);
  if (from === null || from.origin !== origin) return false;
  return (
    (host !== undefined && from.host === host.toLowerCase()) || (publicUrl !== undefined && from.origin === URL.parse(publicUrl)?.origin)
  );
}
