import { isIP } from "node:net";
import type { ProblemReason } from "../../../core/reasons/problems/problem.ts";

const NAME = /^[a-z0-9_]([a-z0-9_-]{0,62})?(\.[a-z0-9_]([a-z0-9_-]{0,62})?)*\.?$/i;
const MOST_SHOWN = 80;

/** Why the text is not the name of a host, with its port where it has one; undefined: it is. */
export function whyNoHost(text: string): ProblemReason | undefined {
  const [, name = "", port] = /^(\[[0-9a-f:.]+\]|[^:/@\s]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const plain = name.startsWith("[") || isAddress(name);
  if (plain && URL.canParse(`http://${name}`) && (port === undefined || (Number(port) > 0 && Number(port) <= 65_535))) return undefined;
  return { code: "NOT_A_HOST", given: shown(text), bare: bare(text) };
}

/** Why nothing can listen at it; undefined: something can, as far as is known without asking a name server. */
export function whyNoListening(text: string): ProblemReason | undefined {
  return isAddress(text) ? undefined : { code: "NOT_LISTENABLE", given: shown(text) };
}

/** An IP, or a name that is not read as one: `999.1.1.1` is neither. */
function isAddress(text: string): boolean {
  return isIP(text) !== 0 || (NAME.test(text) && !/(^|\.)(\d+|0x[0-9a-f]*)\.?$/i.test(text));
}

/** `github.example.com` of `https://github.example.com/`. */
function bare(text: string): string | undefined {
  const name = text
    .trim()
    .replace(/^([a-z]+:)?\/+/i, "")
    .replace(/[/?#].*$/, "")
    .replace(/^.*@/, "");
  return name !== text && name.length <= MOST_SHOWN && whyNoHost(name) === undefined ? name : undefined;
}

/** Without what may be a password. */
function shown(text: string): string {
  return JSON.stringify(text.replace(/[^/]*@/, "…@").slice(0, MOST_SHOWN));
}
