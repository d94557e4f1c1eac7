/** Parts of Markdown that several pages are made of. The texts are harmless already. */

/** A table of at most so many rows; below it stands how many are left out. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  most = Number.POSITIVE_INFINITY,
  more = (left: number) => `${left} more.`,
): string {
  const names = `| ${head.join(" | ")} |`.replaceAll("|  |", "| |");
  const lines = [names, `|${" --- |".repeat(head.length)}`, ...rows.slice(0, most).map((cells) => `| ${cells.join(" | ")} |`)];
  return `${lines.join("\n")}${rows.length > most ? `\n\n${more(rows.length - most)}` : ""}`;
}

/** Folds a text away, to be shown once somebody opens it. */
export function foldText(summary: string, text: string): string {
  return `<details><summary>${summary}</summary>\n\n${text}\n\n</details>`;
}

/** `a, b and 4 more`. */
export function firstOf(names: readonly string[], most: number, all = names.length, between = ", "): string {
  return names.slice(0, most).join(between) + (all > most ? ` and ${all - most} more` : "");
}

/** The texts of those that there are. */
export function present(...texts: readonly (string | false | undefined)[]): string[] {
  return texts.filter((text) => typeof text === "string" && text !== "") as string[];
}
