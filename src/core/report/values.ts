/** Draws a release of several values as a table, in every surface alike: which value, what stands there, what is to stand there. */
import { defined } from "../base/defined.ts";
import type { ValueChange } from "../plan/values.ts";
import { cell, code } from "./escape.ts";
import { table } from "./markdown.ts";
import type { ValueShown } from "./model/types.ts";

const MOST_VALUES = 30;
/** Clusters may stand at different versions of one value. */
const MOST_STANDING = 3;
const LONGEST = 120;

/** undefined: the release has one value, which is shown as it is. */
export function shownValues(changes: readonly ValueChange[]): ValueShown[] | undefined {
  if (changes.length === 0) return undefined;
  return changes.slice(0, MOST_VALUES).map(({ name, from, to }) => {
    const more = from.length > MOST_STANDING ? ["…"] : [];
    const standing = [...from.slice(0, MOST_STANDING).map((one) => one.slice(0, LONGEST)), ...more].join(", ");
    return { name, ...defined({ from: standing === "" ? undefined : standing }), to: to.slice(0, LONGEST) };
  });
}

/** What stands in the title of a release's page, harmless: the table beside it has the values where there are several. */
export function releaseTitle({ release, values }: { release: string; values?: readonly ValueShown[] | undefined }): string {
  return values === undefined ? cell(release) : `a release of ${values.length} values`;
}

/** Markdown, harmless; "" where the release has one value. */
export function valuesTable(values: readonly ValueShown[] | undefined): string {
  if (values === undefined) return "";
  const rows = values.map((one) => [
    cell(one.name, LONGEST),
    one.from === undefined ? "–" : code(one.from),
    isKept(one) ? "stays" : code(one.to),
  ]);
  return table(["value", "stands at", "goes to"], rows);
}

/** The rows of a terminal's table. */
export function valueRows(values: readonly ValueShown[]): string[][] {
  return values.map((one) => [one.name, isKept(one) ? `${one.to} stays` : one.from === undefined ? one.to : `${one.from} → ${one.to}`]);
}

function isKept({ from, to }: ValueShown): boolean {
  return from === to;
}
