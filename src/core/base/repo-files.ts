/** The files of a repo at one commit, at hand. */
export interface RepoFiles {
  /** Text of a file by its path from the root; null: not there. Throws where it must not be read, such as a symbolic link. */
  read(path: string): string | null;
  /** Of all files, with forward slashes, from the root. */
  paths(): readonly string[];
  /** What was made of all of them, by what made it; absent: they may change while they are looked at. */
  readonly made?: WeakMap<object, unknown> | undefined;
}

/** Makes something of all files, once where they do not change. What comes of it is everybody's, and changed by nobody. */
export function madeOnce<T>(files: RepoFiles, make: (files: RepoFiles) => T): T {
  const { made } = files;
  if (made === undefined) return make(files);
  if (!made.has(make)) made.set(make, make(files));
  return made.get(make) as T;
}

/** Text of a file; null also where it must not be read: then it declares nothing. */
export function readOrNull(files: Pick<RepoFiles, "read">, path: string): string | null {
  try {
    return files.read(path);
  } catch {
    return null;
  }
}
