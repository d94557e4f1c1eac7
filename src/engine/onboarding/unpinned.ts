/** Why Applications that run one thing get no pin, as plainly as it can be told. Called by `propose.ts`. */
import { tidyPath } from "../../core/argocd/source-places.ts";
import type { Hindrance, PlaceHindrance } from "../../core/reasons/onboarding.ts";
import { sourcesOf } from "./places-spec.ts";
import { type Scan, textAt } from "./scan.ts";
import type { InitTarget, Place } from "./types.ts";

interface Unpinned {
  because: readonly PlaceHindrance[];
  /** Of each of them. */
  places: readonly (readonly Place[])[];
  areParents: boolean;
  /** Would tell their branches apart. */
  label?: { values: string[]; text: string } | undefined;
}

/** What is read elsewhere has no place here, whatever the others have; and a parent has none of its own. */
export function whyUnpinned(why: Hindrance, { because, places, areParents, label }: Unpinned): Hindrance {
  if (label !== undefined) return { kind: "NoPin", slots: [{ kind: "NotToldApart", slot: "branch", texts: label.values, label }] };
  if (why.kind !== "NoVersion" && why.kind !== "NoPin") return why;
  const [first] = because;
  if (areParents && places.every((all) => all.length === 0)) return { kind: "Parents" };
  if (first !== undefined && places.some((all) => all.length === 0)) return { kind: "NoVersion", anywhere: false, because };
  return why.kind === "NoVersion" ? { ...why, because } : why;
}

/** Tells Applications whose folder holds other Applications, or sets of them. */
export function parentsIn({ applications, sets }: Scan): (target: InitTarget) => boolean {
  const folders = new Set([...applications, ...sets].flatMap(({ file }) => foldersAbove(file)));
  return ({ spec }) => sourcesOf(spec).some(({ source }) => folders.has(tidyPath(textAt(source, "path") ?? "")));
}

function foldersAbove(file: string): string[] {
  const steps = file.split("/").slice(0, -1);
  return steps.map((_, i) => steps.slice(0, i + 1).join("/"));
}
