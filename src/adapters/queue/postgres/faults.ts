/** What is wrong with PostgreSQL, from the code of its refusal or of the system's. */
import { setting } from "../../../core/reasons/settings.ts";

const LOGIN = new Set(["28P01", "28000", "3D000"]);
const READ_ONLY = new Set(["25006"]);
const FULL = new Set(["53100", "53200", "54000"]);
const NOT_THERE = new Set(["42P01", "3F000", "42703"]);

/** In the words of its client, which gives it no code. */
const NO_TLS = "The server does not support SSL connections";
/** Of Node's and OpenSSL's, for a certificate that is not taken. */
const UNTRUSTED = /CERT|UNABLE_TO_(?:VERIFY|GET_ISSUER)/;

/** `said`: in PostgreSQL's words, or the system's. */
export function whyRefused(code: string, said: string) {
  if (LOGIN.has(code)) return setting("DATABASE_LOGIN", { said });
  if (READ_ONLY.has(code)) return setting("DATABASE_READ_ONLY");
  if (FULL.has(code)) return setting("DATABASE_FULL", { said });
  if (code === "42501") return setting("DATABASE_RIGHTS", { said });
  if (NOT_THERE.has(code)) return setting("DATABASE_EMPTY");
  if (UNTRUSTED.test(code) || said === NO_TLS) return setting("DATABASE_TLS", { said });
  return setting("DATABASE_AWAY", { said: said === "" ? code : said });
}
