/**
 * People whom a proxy of the operator's knows, who may only read. The proxy shows a secret of its own with each request, so that nobody who
 * reaches the port beside it can say who they are.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { type BlockList, isIP } from "node:net";

export interface ProxyDoor {
  /** Names of headers, in lower case. */
  header: string;
  secretHeader: string;
  secret: string;
  /** Where the proxy's connections come from; absent: anywhere. */
  from?: BlockList | undefined;
  /** Whether people who come so see the repository. */
  sees(repository: string): boolean;
}

const LONGEST_NAME = 200;

/** undefined: not through the proxy. `refused`: somebody who is not it says so. */
export function personOfProxy(door: ProxyDoor, headers: IncomingHttpHeaders, address: string): { name: string } | "refused" | undefined {
  const given = headers[door.secretHeader];
  if (given === undefined) return undefined;
  const isProxy = typeof given === "string" && isSame(given, door.secret) && isIn(door.from, address);
  const name = headers[door.header];
  if (!isProxy || typeof name !== "string") return "refused";
  const plain = name.trim();
  return plain === "" || plain.length > LONGEST_NAME || /[^\x20-\x7e\x80-\xff]/.test(plain) ? "refused" : { name: plain };
}

/** In a time that tells nothing, not even how long the secret is. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

function isIn(from: BlockList | undefined, address: string): boolean {
  if (from === undefined) return true;
  const plain = address.replace(/^::ffff:(?=\d+\.)/, "");
  const family = isIP(plain);
  return family !== 0 && from.check(plain, family === 6 ? "ipv6" : "ipv4");
}
