/** `1 cluster`, `2 clusters`. */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : noun.endsWith("ch") ? "es" : "s"}`;
}
