/** Disks of their own, which can be full. Where nothing can be mounted they never are. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Unmounted with this process. */
const mounted = new Set<() => void>();
process.once("exit", () => {
  for (const unmount of mounted) unmount();
});

export interface Disk {
  /** Nothing more can be written there, or it can again. */
  fill(full: boolean): void;
  close(): void;
}

/** A small one at an empty folder, gone with this process. */
export function mountDisk(folder: string, size: string): Disk {
  const isMounted = tries("mount", "-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder);
  const unmount = () => void (isMounted && tries("umount", "--lazy", folder));
  mounted.add(unmount);
  const filler = join(folder, "filler");
  return {
    fill(full) {
      if (!isMounted) return;
      // It ends with an error: there is no room.
      if (full) tries("dd", "if=/dev/zero", `of=${filler}`, "bs=64k", "status=none");
      else tries("rm", "-f", filler);
    },
    close() {
      mounted.delete(unmount);
      unmount();
    },
  };
}

function tries(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
