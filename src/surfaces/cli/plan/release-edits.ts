import { dig } from "../../../core/base/is-record.ts";
import { nearest } from "../../../core/base/nearest.ts";
import { splice } from "../../../core/pins/splice.ts";
import type { PinError } from "../../../core/pins/types.ts";
import { sayPin } from "../../../core/report/reasons/problems/pins.ts";
import { readYaml } from "../../../core/spec/parse/yaml.ts";
import { SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { CommandError } from "../command.ts";

/** Where a value of a release stands, and what is to stand there. */
export interface ReleaseEdit {
  name: string;
  file: string;
  path: string;
  from: string;
  to: string;
}

/** Text of a file of the base branch; null: not there. */
export type ReadText = (file: string) => Promise<string | null>;

/** The places of a release's values: in the rollout itself, in its annotation, in the repo's settings, or in files of their own. */
export async function releaseEdits(rollout: Rollout, wanted: Readonly<Record<string, string>>, read: ReadText): Promise<ReleaseEdit[]> {
  const { release, name } = rollout;
  if (release === undefined) throw new CommandError(1, `rollout ${name} has no release to change: say spec.release first`);
  if (release.kind === "commit" || release.kind === "tag") {
    const how = release.kind === "commit" ? "merging a pull request that touches its paths" : "pushing a tag in its range";
    throw new CommandError(1, `${name} is released by ${how}, not by a version`);
  }
  refuseStrange(rollout, wanted);
  const edits: ReleaseEdit[] = [];
  for (const [value, to] of Object.entries(wanted)) {
    const { file, path } = await placeOf(rollout, value, read);
    edits.push({ name: value, file, path, to, from: await valueAt(file, path, to, read) });
  }
  return edits;
}

/** What `--to` means: `a=1,b=2` are two values, as in `/rollback --to`, where the release has both. Names that it does not have are wrong usage. */
export function wantedOf(rollout: Rollout, given: Readonly<Record<string, string>>): Record<string, string> {
  const { release } = rollout;
  if (release === undefined) return { ...given };
  const names = release.kind === "values" ? Object.keys(release.values) : [];
  const parts = Object.entries(given).flatMap(([name, value]) => splitValues(name, value, names));
  const twice = parts.find(([name], i) => parts.findIndex(([other]) => other === name) !== i);
  if (twice !== undefined) throw new CommandError(2, `--to says ${twice[0]} twice`);
  const empty = parts.find(([, value]) => value === "");
  if (empty !== undefined) throw new CommandError(2, `--to gives ${empty[0]} no value: write ${empty[0]}=VERSION`);
  const wanted = Object.fromEntries(parts);
  refuseStrange(rollout, wanted);
  return wanted;
}

function splitValues(name: string, value: string, names: readonly string[]): [string, string][] {
  const [own = "", ...more] = value.split(/,(?=[A-Za-z][A-Za-z0-9_]*=)/);
  const others = more.map((one): [string, string] => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]);
  // A comma may stand in a version, too.
  return others.every(([other]) => names.includes(other)) ? [[name, own], ...others] : [[name, value]];
}

/** Names that the rollout's release does not have are wrong usage. */
function refuseStrange({ release, name }: Rollout, wanted: Readonly<Record<string, string>>): void {
  const known = release?.kind === "values" ? Object.keys(release.values) : ["version"];
  const strange = Object.keys(wanted).find((one) => !known.includes(one));
  if (strange === undefined) return;
  const several = release?.kind === "values" ? `write ${nearest(strange, known) ?? known[0]}=…` : "";
  // What is given alone is the version.
  if (several !== "" && strange === "version")
    throw new CommandError(2, `${name} releases several values (${known.join(", ")}): ${several}`);
  const hint = several === "" ? "write the version alone" : `it has ${known.join(", ")}: ${several}`;
  throw new CommandError(2, `the release of ${name} has no value "${strange}"; ${hint}`);
}

async function placeOf(rollout: Rollout, value: string, read: ReadText): Promise<{ file: string; path: string }> {
  const { release } = rollout;
  if (release?.kind === "from") return { file: release.file, path: release.path };
  const own = release?.kind === "values" ? release.values[value] : undefined;
  if (own !== undefined && typeof own !== "string") return own;
  const below = release?.kind === "values" ? `values.${value}` : "version";
  const text = (await read(rollout.file)) ?? "";
  const { sources } = readYaml(text, rollout.file);
  const index = sources.findIndex(({ data }) => dig(data, "metadata", "name") === rollout.name);
  const data = sources[index]?.data;
  const document = sources.length > 1 ? `#${index + 1}/` : "";
  if (dig(data, "spec", "release") !== undefined) return { file: rollout.file, path: `${document}spec.release.${below}` };
  if (dig(data, "metadata", "annotations", "stagecoach.dev/release") !== undefined)
    return { file: rollout.file, path: `${document}metadata.annotations["stagecoach.dev/release"]!${below}` };
  return { file: SETTINGS_FILE, path: `rollouts["${rollout.name}"].release.${below}` };
}

/** What stands there now; that it can be written is tried at once. */
async function valueAt(file: string, path: string, to: string, read: ReadText): Promise<string> {
  const text = await read(file);
  if (text === null) throw new CommandError(1, `${file} is not there on the base branch`);
  const tried = splice(text, [{ path, value: to }]);
  if (!tried.ok) throw new CommandError(1, `${file}: ${path}: ${refusal(tried.error)}`);
  return tried.found[0]?.value ?? "";
}

/** The files as they are to be; only the values differ, byte for byte. */
export async function editedFiles(edits: readonly ReleaseEdit[], read: ReadText): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const [file, own] of Map.groupBy(edits, (edit) => edit.file)) {
    const done = splice(
      (await read(file)) ?? "",
      own.map(({ path, to }) => ({ path, value: to })),
    );
    if (!done.ok) throw new CommandError(1, `${file}: ${refusal(done.error)}`);
    files.set(file, done.text);
  }
  return files;
}

function refusal(error: PinError): string {
  const { message, hint } = sayPin(error);
  return `${message}; ${hint}`;
}
