import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Counts the bytes of all files below a directory. What goes away meanwhile counts for nothing. */
export async function bytesBelow(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) bytes += await bytesBelow(path);
    else bytes += (await stat(path).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}
