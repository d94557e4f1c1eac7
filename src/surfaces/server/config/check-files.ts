import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { baseOf } from "../../../adapters/argocd/api/client.ts";
import { isMadeUp, NO_KUBECONFIG } from "../../../adapters/argocd/kubernetes/client.ts";
import { setting } from "../../../core/reasons/settings.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { sealKeysOf, signingOf } from "../commits.ts";
import { audienceOf } from "../seen-from.ts";
import { checkGates } from "./engines.ts";
import { databaseUrlOf, type Environment } from "./env.ts";
import { usableKubeConfig } from "./kube-config.ts";
import { checkNotifySecrets } from "./notify.ts";
import type { ServerConfig } from "./schema.ts";
import { gatherSettingErrors, readSettingFile, SettingError, underSetting } from "./setting-errors.ts";

/**
 * Opens what the configuration names, as a start would, and leaves nothing open. Throws SettingError with a line for each setting
 * that can never work. Returns what will be missing though the server starts: a line each.
 */
export function checkFiles(config: ServerConfig, env: Environment): string[] {
  const errors = gatherSettingErrors();
  const missing: string[] = [];
  for (const [i, plane] of config.controlPlanes.entries()) {
    const at = `controlPlanes[${i}]`;
    if (plane.kind === "api") {
      errors.keep(() => underSetting(`${at}.url`, () => baseOf({ url: plane.url ?? "" })));
      errors.keep(() => readSettingFile(`${at}.tokenFile`, plane.tokenFile ?? ""));
      errors.keep(() => plane.caFile !== undefined && readSettingFile(`${at}.caFile`, plane.caFile));
    } else {
      const made = errors.keep(() => usableKubeConfig(at, plane));
      if (made !== undefined && isMadeUp(made)) missing.push(`${at} (${plane.name}): ${sentenceOf(NO_KUBECONFIG)}`);
    }
  }
  errors.keep(() => signingOf(config.commits));
  errors.keep(() => sealKeysOf(config.journal, NO_KEY, env));
  // Whether the App's client is there is asked with its credentials.
  errors.keep(() => audienceOf(config, { privateKey: NO_KEY, client: { id: "", secret: "" } }, env));
  errors.keep(() => checkGates(config, env));
  errors.keep(() => databaseUrlOf(config, env));
  errors.keep(() => checkNotifySecrets(config, env));
  errors.keep(() => underSetting("directory", () => checkMakeable(resolve(config.directory))));
  errors.throwAny();
  return missing;
}

/** Stands for the App's private key, which is checked where the credentials are. */
const NO_KEY = "0".repeat(64);

/** Without making it: whoever only checks leaves nothing behind. */
function checkMakeable(directory: string): void {
  let path = directory;
  while (!existsSync(path) && dirname(path) !== path) path = dirname(path);
  if (!statSync(path).isDirectory()) throw new SettingError(setting("NO_DIRECTORY", { path }));
  accessSync(path, constants.W_OK | constants.X_OK);
}
