/** How a value looks to the person who wrote it, cut short. */
export function show(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = typeof value === "string" ? `"${value}"` : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
