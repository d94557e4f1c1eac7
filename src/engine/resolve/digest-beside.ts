/**
 * Finds tags with a digest beside them that no pin writes, and digests with such a tag. A digest wins over a tag wherever both stand: the
 * batch would look live, and the old image would run on. Called by `targets.ts` once every pin is read.
 */
import { defined } from "../../core/base/defined.ts";
import { findPin } from "../../core/pins/find.ts";
import type { Edit } from "../../core/plan/plan-types.ts";
import type { Draft } from "./draft.ts";
import type { ProblemList } from "./targets-problems.ts";

const BESIDE: Readonly<Record<string, readonly string[]>> = { newTag: ["digest"], tag: ["digest"], digest: ["newTag", "tag"] };

export function checkDigests(drafts: readonly Draft[], read: (file: string) => string | null, problems: ProblemList): void {
  const most = Math.max(0, ...drafts.map(({ edits }) => edits.length));
  // Pin by pin, since those of one pin are mostly of one file.
  for (let pin = 0; pin < most; pin++)
    for (const { edits, seen } of drafts) {
      const edit = edits[pin];
      // A pin that cannot be filled in is told already: it may be the one that writes what is beside.
      const left = edit && !edits.includes(undefined) ? leftBeside(edit, edits, read) : undefined;
      if (edit === undefined || left === undefined) continue;
      const isTag = left.key !== "digest";
      const data = {
        kind: isTag ? "Tag" : "Digest",
        pinPath: edit.path,
        pinFile: edit.file,
        beside: left.path,
        value: left.value,
      } as const;
      // What a chart makes of its values nobody knows here; kustomize takes the digest.
      const isSure = !isTag && edit.path.endsWith(".newTag") && edit.from !== edit.to;
      problems.add(
        {
          code: "DIGEST_BESIDE_TAG",
          ...data,
          ...defined({ severity: isSure ? undefined : ("warning" as const) }),
          path: ["spec", "pins", pin, "path"],
          oneCause: true,
        },
        seen.view.name,
      );
    }
}

/** What stands beside a value, and stays as it is when that is changed. */
function leftBeside(
  edit: Edit,
  all: readonly (Edit | undefined)[],
  read: (file: string) => string | null,
): { key: string; path: string; value: string } | undefined {
  const [, above = "", last = ""] = /^(.*\.)(newTag|tag|digest)$/s.exec(edit.path) ?? [];
  if (edit.kind !== "value" || last === "") return undefined;
  const text = read(edit.file);
  if (text === null) return undefined;
  for (const key of BESIDE[last] ?? []) {
    const path = `${above}${key}`;
    if (all.some((other) => other?.file === edit.file && other.path === path)) continue;
    const found = findPin(text, { path });
    if (found.ok && found.found.value !== null && found.found.value !== "") return { key, path, value: found.found.value };
  }
  return undefined;
}
