/** The files of a repo at one commit, at hand. */
export interface RepoFiles {
  /** Text of a file by its path from the root; null: not there. Throws where it must not be read, such as a symbolic link. */
  read(path: string): string | null;
  /** Of all files, with forward slashes, from the root. */
  paths(): readonly string[];
}

/** Text of a file; null also where it must not be read: then it declares nothing. */
export function readOrNull(files: Pick<RepoFiles, "read">, path: string): string | null {
  try {
    return files.read(path);
  } catch {
    return null;
  }
}
