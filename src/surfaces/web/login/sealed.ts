/** Cookies that only this bot can read and write: encrypted and authenticated (JWE, A256GCM), each for one purpose and until one moment. */
import { EncryptJWT, jwtDecrypt } from "jose";

export interface CookieKey {
  id: string;
  secret: Uint8Array;
}

/** The first one seals; by any of them a cookie holds, so that keys can change. */
export type CookieKeys = readonly [CookieKey, ...CookieKey[]];

/** Browsers keep no larger cookie. */
const LARGEST_COOKIE = 4000;

export interface Sealed {
  /** `endsAt`: epoch ms. Throws where it would be larger than browsers keep. */
  seal(purpose: string, content: Record<string, unknown>, endsAt: number): Promise<string>;
  /** undefined: it is not by us, not for this, altered, or over. */
  open(purpose: string, text: string): Promise<Record<string, unknown> | undefined>;
}

export function openSealed(keys: CookieKeys, now: () => number): Sealed {
  const [first] = keys;
  return {
    async seal(purpose, content, endsAt) {
      const text = await new EncryptJWT(content)
        .setProtectedHeader({ alg: "dir", enc: "A256GCM", kid: first.id })
        .setAudience(purpose)
        .setExpirationTime(new Date(endsAt))
        .encrypt(first.secret);
      if (text.length > LARGEST_COOKIE) throw new Error("a cookie would be larger than browsers keep");
      return text;
    },
    async open(purpose, text) {
      if (text.length > LARGEST_COOKIE) return undefined;
      const known = { keyManagementAlgorithms: ["dir"], contentEncryptionAlgorithms: ["A256GCM"], requiredClaims: ["exp"] };
      const keyOf = ({ kid }: { kid?: string }) => {
        const found = keys.find(({ id }) => id === kid);
        if (found === undefined) throw new Error("no key of ours");
        return found.secret;
      };
      try {
        return (await jwtDecrypt(text, keyOf, { ...known, audience: purpose, currentDate: new Date(now()) })).payload;
      } catch {
        return undefined;
      }
    },
  };
}
