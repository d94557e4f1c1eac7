import { findPin } from "../../core/pins/find.ts";
import type { Edit } from "../../core/plan/plan-types.ts";
import { SETTINGS_FILE } from "../../core/spec/repo-config.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { VERSION } from "./release.ts";

/** Documents of a file that are looked through for a rollout. */
const MOST_DOCUMENTS = 50;

interface Place {
  file: string;
  path: string;
}

/** Where each value of a release stands in the repo, as the files say now. null: it stands in no file, or not where it can be told. */
function releasePlaces(rollout: Rollout, read: (path: string) => string | null): Map<string, Place & { value: string }> | null {
  const spec = rollout.release;
  const places = new Map<string, Place>();
  if (spec?.kind === "from") places.set(VERSION, { file: spec.file, path: spec.path });
  else if (spec?.kind === "version") {
    const place = placeOfText(rollout, "version", spec.version, read);
    if (place === undefined) return null;
    places.set(VERSION, place);
  } else if (spec?.kind === "values") {
    for (const [name, value] of Object.entries(spec.values)) {
      const place = typeof value === "string" ? placeOfText(rollout, `values.${name}`, value, read) : value;
      if (place === undefined) return null;
      places.set(name, { file: place.file, path: place.path });
    }
  } else return null;
  const found = new Map<string, Place & { value: string }>();
  for (const [name, place] of places) {
    const value = valueAt(place, read);
    if (value === undefined) return null;
    found.set(name, { ...place, value });
  }
  return found;
}

/** The edits that make a release say these values instead; null: it cannot be told where they stand. Values that stand there already need none. */
export function releaseEdits(
  rollout: Rollout,
  values: Readonly<Record<string, string>>,
  read: (path: string) => string | null,
): Edit[] | null {
  const places = releasePlaces(rollout, read);
  if (places === null) return null;
  const edits: Edit[] = [];
  for (const [name, { file, path, value }] of places) {
    const to = values[name];
    if (to !== undefined && to !== value) edits.push({ file, path, kind: "value", from: value, to });
  }
  return edits;
}

/** Where a text of the release stands: in the repo's settings, in the rollout's own document, or in its annotation. */
function placeOfText(rollout: Rollout, below: string, text: string, read: (path: string) => string | null): Place | undefined {
  const inSettings = { file: SETTINGS_FILE, path: `rollouts["${rollout.name}"].release.${below}` };
  const inFile = Array.from({ length: MOST_DOCUMENTS }, (_, i) => (i === 0 ? "" : `#${i + 1}/`))
    .filter((prefix) => valueAt({ file: rollout.file, path: `${prefix}metadata.name` }, read) === rollout.name)
    .flatMap((prefix) => [`${prefix}spec.release.${below}`, `${prefix}metadata.annotations["stagecoach.dev/release"]!${below}`])
    .map((path) => ({ file: rollout.file, path }));
  return [inSettings, ...inFile].find((place) => valueAt(place, read) === text);
}

function valueAt({ file, path }: Place, read: (path: string) => string | null): string | undefined {
  const text = read(file);
  if (text === null) return undefined;
  const found = findPin(text, { path });
  return found.ok && found.found.value !== null ? found.found.value : undefined;
}
