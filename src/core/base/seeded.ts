/** Numbers that look random and are the same for the same text: what is planned or waited for must not change when it is asked again. */

/** A whole number from 0 to 2³²-1. FNV-1a over the text's code units, then mixed, so that near texts give far numbers. */
export function seededNumber(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** From 0, that included, to 1, that not. */
export function seededFraction(text: string): number {
  return seededNumber(text) / 2 ** 32;
}
