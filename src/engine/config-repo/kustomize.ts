/** Follows the kustomizations of a config repo, as far as they stand in it: remote bases and plugins are passed over. */
import { posix } from "node:path";
import { BoundedMap } from "../../core/base/bounded.ts";
import { isRecord } from "../../core/base/is-record.ts";
import { isWhole } from "../../core/base/pass.ts";
import { madeOnce, type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { readManifests } from "../../core/base/yaml-read.ts";

/** What one kustomization names, from the root of the repo. */
interface Kustomization {
  file: string;
  /** Files and folders whose objects it passes on. */
  resources: readonly string[];
  /** Files that change them, or that objects are made of. */
  others: readonly string[];
  /** Those of `resources` that change all the others. */
  components: readonly string[];
  /** It changes the objects it passes on. */
  patches: boolean;
}

/** By folder. */
export type Kustomizations = ReadonlyMap<string, Kustomization>;

interface Named {
  resources: string[];
  others: string[];
  components: string[];
  patches: boolean;
}

const FILE = /(?:^|\/)(?:kustomization\.ya?ml|Kustomization)$/;
const LARGEST = 1024 * 1024;

/** A commit leaves most of them as they are. */
const READ = new BoundedMap<string, Named>(2000);

export function kustomizationsIn(files: RepoFiles): Kustomizations {
  return madeOnce(files, readKustomizations);
}

function readKustomizations(files: RepoFiles): Kustomizations {
  const found = new Map<string, Kustomization>();
  for (const path of files.paths()) {
    const text = FILE.test(path) ? readOrNull(files, path) : null;
    if (text === null || text.length > LARGEST) continue;
    const folder = posix.dirname(path);
    const named = READ.get(text) ?? entriesOf(text);
    if (isWhole()) READ.set(text, named);
    const fromRoot = (entry: string) => posix.join(folder, entry).replace(/(?<!\/)\/+$/, "");
    const { resources, others, components, patches } = named;
    found.set(folder, {
      ...{ file: path, patches },
      ...{ resources: resources.map(fromRoot), others: others.map(fromRoot), components: components.map(fromRoot) },
    });
  }
  return found;
}

const PATCHES = ["patches", "patchesStrategicMerge", "patchesJson6902", "replacements", "transformers", "components"];

function entriesOf(text: string): Named {
  const [object = {}] = readManifests(text);
  const list = (key: string): unknown[] => (Array.isArray(object[key]) ? object[key] : []);
  const texts = (...keys: string[]) => keys.flatMap(list).filter((one) => typeof one === "string" && isPath(one)) as string[];
  const fields = (key: string, ...names: string[]) =>
    list(key)
      .flatMap((one) => (isRecord(one) ? names.map((name) => one[name]) : []))
      .flat();
  const made = ["configMapGenerator", "secretGenerator"].flatMap((key) => fields(key, "files", "envs", "env"));
  const named = [
    ...fields("patches", "path"),
    ...fields("patchesJson6902", "path"),
    ...fields("replacements", "path"),
    ...fields("helmCharts", "valuesFile"),
  ];
  const others = [...named, ...made.map((one) => (typeof one === "string" ? one.replace(/^[^=]*=/, "") : one))];
  return {
    resources: texts("resources", "bases", "components"),
    components: texts("components"),
    others: [
      ...texts("patchesStrategicMerge", "transformers", "generators", "validators", "configurations", "crds"),
      ...others.filter((one) => typeof one === "string" && isPath(one)),
    ] as string[],
    patches: PATCHES.some((key) => list(key).length > 0),
  };
}

/** No URL, and no patch that is written out in place. */
function isPath(entry: string): boolean {
  return entry !== "" && !/:\/\/|[\n{]|^git@|[?&]ref=/.test(entry);
}

/** Folders whose kustomization passes a file's objects on, itself or by way of others; the nearest first. */
export function takersOf(kustomizations: Kustomizations, file: string): string[] {
  const by = TAKEN_BY.get(kustomizations) ?? takenBy(kustomizations);
  TAKEN_BY.set(kustomizations, by);
  const takers = new Set<string>();
  const wanted = [file];
  for (const one of wanted) {
    for (const folder of by.get(one) ?? []) {
      if (takers.has(folder)) continue;
      takers.add(folder);
      wanted.push(folder);
    }
  }
  return [...takers];
}

/** Which folders take a file or a folder, of all of them: each rollout of a repo asks for its own. */
const TAKEN_BY = new WeakMap<Kustomizations, Map<string, string[]>>();

function takenBy(kustomizations: Kustomizations): Map<string, string[]> {
  const by = new Map<string, string[]>();
  for (const [folder, { resources }] of kustomizations) {
    for (const resource of resources) {
      const folders = by.get(resource);
      if (folders === undefined) by.set(resource, [folder]);
      else folders.push(folder);
    }
  }
  return by;
}

/** Every file that a folder's kustomization reads, itself or by way of others; empty where the folder has none. */
export function filesTakenBy(kustomizations: Kustomizations, folder: string): Set<string> {
  const taken = new Set<string>();
  const folders = [folder === "" ? "." : folder];
  for (let at = 0; at < folders.length; at++) {
    const one = kustomizations.get(folders[at] ?? "");
    for (const entry of [...(one?.resources ?? []), ...(one?.others ?? [])]) {
      if (!kustomizations.has(entry)) taken.add(entry);
      else if (!folders.includes(entry)) folders.push(entry);
    }
  }
  return taken;
}
