/** `1 cluster`, `2 clusters`. */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : noun.endsWith("ch") ? "es" : "s"}`;
}

/** In MiB, rounded up, so that what is too large by a byte is more than what it may have. */
export function mebibytes(bytes: number): string {
  return (Math.ceil((bytes / 1024 / 1024) * 10) / 10).toString();
}
