import { execFileSync } from "node:child_process";
import type { RenderContext } from "../../../core/appset/index.ts";
import { openCheckout } from "../lint/lint-checkout.ts";

interface StandIn {
  repo: NonNullable<RenderContext["repo"]>;
  /** Why a repository is not served by it; empty: all are. */
  note: string;
}

/**
 * A checkout in place of the repositories git generators name: those of the same owner and name as its `origin`, or every
 * one where it has no origin. Its files stand for any revision.
 */
export function standIn(dir: string): StandIn {
  const checkout = openCheckout(dir);
  const origin = originOf(checkout.root);
  const snapshot = { files: () => checkout.files(), read: (path: string) => checkout.read(path) };
  if (origin === undefined) return { repo: () => snapshot, note: "" };
  const own = ownerAndName(origin);
  return {
    repo: (url) => (ownerAndName(url) === own ? snapshot : undefined),
    note: `--repo ${dir} is a checkout of ${own}; give a checkout of that repository, or a copy without a remote to use it for all`,
  };
}

function originOf(dir: string): string | undefined {
  try {
    const url = execFileSync("git", ["-C", dir, "config", "--get", "remote.origin.url"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    return url === "" ? undefined : url;
  } catch {
    return undefined;
  }
}

/** `acme/config` of any spelling of the URL: https, ssh, with or without `.git`; never its credentials. */
function ownerAndName(url: string): string {
  const path = url.replace(/^[a-z+]+:\/\/[^/]*\//i, "").replace(/^[^/]*:/, "");
  const segments = path
    .replace(/\/+$/, "")
    .replace(/\.git$/i, "")
    .split("/");
  return segments.slice(-2).join("/").toLowerCase();
}
