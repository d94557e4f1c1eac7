import { existsSync } from "node:fs";
import { open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";

/** A file as read: what it holds, and where it really is. */
export interface Seen {
  text: string;
  /** Behind symbolic links. */
  path: string;
  mode: number;
}

/** What `splice` reads at most; more is not even loaded. */
const MAX_BYTES = 10 * 1024 * 1024;

export function formatOf(file: string): "json" | "auto" {
  return file.toLowerCase().endsWith(".json") ? "json" : "auto";
}

/**
 * Reads a file to be edited. A symbolic link is followed, unless it leads out of the Git repository it stands in.
 *
 * @returns a sentence saying why it cannot be, where it cannot.
 */
export async function readPinFile(file: string): Promise<Seen | string> {
  try {
    const path = await realpath(file);
    const root = repositoryOf(dirname(resolve(file)));
    if (root !== undefined && !path.startsWith((await realpath(root)) + sep)) {
      return `it is a link that leads out of the repository, to ${path}. Edit that file itself`;
    }
    const { mode, size } = await stat(path).then((found) => ({ mode: found.isFile() ? found.mode & 0o7777 : -1, size: found.size }));
    if (mode === -1) return "it is not a plain file. Name the file that holds the pin";
    if (size > MAX_BYTES)
      return `the file is larger than ${MAX_BYTES / 1024 / 1024} MiB. Keep pins in a smaller file, one per cluster or stage`;
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(path));
    return { text, path, mode };
  } catch (error) {
    if (error instanceof TypeError) return "the file is not UTF-8 text. Convert it first";
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "ENOENT") return "there is no such file. Check the path, which counts from the current directory";
    return `it cannot be read (${error instanceof Error ? error.message : String(error)}). Check its permissions`;
  }
}

function repositoryOf(from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** Replaces a file in one step, with its mode: a reader sees the old text or the new one, and a crash leaves the old one. */
export async function writePinFile(seen: Seen, text: string): Promise<void> {
  const temporary = join(dirname(seen.path), `.${basename(seen.path)}.${process.pid}.tmp`);
  const handle = await open(temporary, "wx", 0o600);
  try {
    try {
      await handle.writeFile(text);
      await handle.chmod(seen.mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, seen.path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
