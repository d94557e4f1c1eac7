import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { baseOf } from "../../../adapters/argocd/api/client.ts";
import { isMadeUp, NO_KUBECONFIG } from "../../../adapters/argocd/kubernetes/no-kubeconfig.ts";
import { readSigningKey } from "../../../adapters/git/signing/ssh-key.ts";
import type { CommitSigning } from "../commits.ts";
import { kubeConfigOf } from "../tenancy/planes.ts";
import type { Environment } from "./env.ts";
import { checkGates } from "./gates.ts";
import type { ControlPlaneConfig, ServerConfig } from "./schema.ts";
import { gatherSettingErrors, SettingError } from "./setting-errors.ts";

/**
 * Opens what the configuration names, as a start would, and leaves nothing open. Throws SettingError with a line for each setting
 * that can never work. Returns what will be missing though the server starts: a line each.
 */
export function checkFiles(config: ServerConfig, env: Environment): string[] {
  const errors = gatherSettingErrors();
  const missing: string[] = [];
  for (const [i, plane] of config.controlPlanes.entries()) {
    const at = `controlPlanes[${i}]`;
    if (plane.kind !== "api") {
      const made = errors.keep(() =>
        naming(`${at}.${plane.context === undefined ? "kubeconfig" : "context"}`, () => usableKubeConfig(plane)),
      );
      if (made !== undefined && isMadeUp(made)) missing.push(`${at} (${plane.name}): ${NO_KUBECONFIG}`);
      continue;
    }
    errors.keep(() => naming(`${at}.url`, () => baseOf({ url: plane.url ?? "" })));
    for (const name of ["tokenFile", "caFile"] as const) errors.keep(() => opened(`${at}.${name}`, plane[name]));
  }
  errors.keep(() => signingOf(config.commits));
  errors.keep(() => checkGates(config, env));
  errors.keep(() => naming("directory", () => checkMakeable(resolve(config.directory))));
  errors.throwAny();
  return missing;
}

/** Who signs commits. Throws SettingError where the key cannot be read. */
export function signingOf({ signing, sshKeyFile = "", trustedKeys }: ServerConfig["commits"]): CommitSigning {
  if (signing !== "ssh") return { kind: signing };
  const text = opened("commits.sshKeyFile", sshKeyFile) ?? "";
  return naming("commits.sshKeyFile", () => ({ kind: "ssh", key: readSigningKey(text), trustedKeys }));
}

function usableKubeConfig(plane: ControlPlaneConfig) {
  const { kubeconfig } = plane;
  if (kubeconfig !== undefined) opened("", kubeconfig);
  const made = kubeConfigOf(plane);
  if (made.getCurrentCluster() === null) throw new Error("the kubeconfig names no current cluster; set current-context");
  return made;
}

function opened(setting: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unreadable";
    const words = `the file ${resolve(file)} cannot be read (${code === "ENOENT" ? "ENOENT: it is not there" : code})`;
    throw new SettingError(setting === "" ? words : `${setting}: ${words}`);
  }
}

function naming<T>(setting: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    // A parser may quote the file over several lines; of a setting there is one.
    throw new SettingError(`${setting}: ${words.replace(/\s*\n[\s\S]*$/, "").slice(0, 500)}`);
  }
}

/** Without making it: whoever only checks leaves nothing behind. */
function checkMakeable(path: string): void {
  let there = path;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  if (!statSync(there).isDirectory()) throw new Error(`${there} is no directory`);
  accessSync(there, constants.W_OK | constants.X_OK);
}
