/**
 * Where a browser has the page open: at its public address, or at this machine by a port-forward. Nothing else leads back from GitHub, and
 * nothing that a request says beside `Host` counts.
 */
import type { IncomingHttpHeaders } from "node:http";

export interface Place {
  /** `https://deploy.example.com` */
  origin: string;
  isSecure: boolean;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/;

/** undefined: nobody signs in there. What is in front may call us by a name of its own; people are then at the public address. */
export function placeOf(host: string | undefined, publicUrl: string | undefined): Place | undefined {
  const open = publicUrl === undefined ? undefined : new URL(publicUrl);
  const asked = host?.toLowerCase() ?? "";
  if (asked !== open?.host && LOOPBACK.test(asked) && URL.canParse(`http://${asked}`))
    return { origin: new URL(`http://${asked}`).origin, isSecure: false };
  return open && { origin: open.origin, isSecure: open.protocol === "https:" };
}

/** `__Host-`: of this very host, by HTTPS, set by nobody beside it. */
function cookieName(name: string, { isSecure }: Place): string {
  return isSecure ? `__Host-${name}` : name;
}

export function cookieIn(headers: IncomingHttpHeaders, name: string, place: Place): string | undefined {
  const wanted = `${cookieName(name, place)}=`;
  const found = (headers.cookie ?? "").split(/;\s*/).find((one) => one.startsWith(wanted));
  return found?.slice(wanted.length) || undefined;
}

/** `endsAt`: epoch ms; in the past: it is removed. */
export function setCookie(name: string, value: string, place: Place, endsAt: number): string {
  const flags = `Path=/; HttpOnly; SameSite=Lax; Expires=${new Date(endsAt).toUTCString()}${place.isSecure ? "; Secure" : ""}`;
  return `${cookieName(name, place)}=${value}; ${flags}`;
}
