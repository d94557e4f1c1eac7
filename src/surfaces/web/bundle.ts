import { join } from "node:path";
import type { RolldownOutput } from "rolldown";

/** The page's program, of what lies in `client/`, as one script for a browser. Called by the build of the package, and from a clone when the page is first asked for. */
export async function bundlePage(): Promise<RolldownOutput["output"][0]> {
  const { rolldown } = await import("rolldown");
  const build = await rolldown({
    cwd: join(import.meta.dirname, "client"),
    input: "main.tsx",
    platform: "browser",
    transform: { target: "es2023", define: { "process.env.NODE_ENV": '"production"' } },
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message);
    },
  });
  try {
    const { output } = await build.generate({ format: "esm", minify: true, sourcemap: false });
    if (output.length > 1) throw new Error("the page's program is one file");
    return output[0];
  } finally {
    await build.close();
  }
}
