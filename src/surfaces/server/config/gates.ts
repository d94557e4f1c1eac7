/** What measures and what asks hooks is opened as the configuration says; what can never work is refused at the start. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { argoRolloutsEngine } from "../../../adapters/analysis/argo-rollouts/index.ts";
import { builtinEngine } from "../../../adapters/analysis/builtin/index.ts";
import { jobRunner } from "../../../adapters/analysis/builtin/jobs.ts";
import type { AnalysisEngine, AnalysisService } from "../../../adapters/analysis/port.ts";
import { isMadeUp } from "../../../adapters/argocd/kubernetes/no-kubeconfig.ts";
import { hookCaller } from "../../../adapters/hooks/caller.ts";
import type { HookCaller } from "../../../adapters/hooks/port.ts";
import { matchesGlob } from "../../../core/base/glob.ts";
import { type Clock, parseDuration } from "../../../core/base/time.ts";
import type { Log } from "../../../engine/round/context.ts";
import { whole } from "../deliveries/uncaught.ts";
import type { Environment } from "./env.ts";
import type { ServerConfig } from "./schema.ts";
import { gatherSettingErrors, SettingError } from "./setting-errors.ts";

type AnalysisConfig = ServerConfig["analysis"];

/** The engine of the server's configuration, and what of its secrets a repo may use. Throws SettingError for what can never work. */
export function openAnalysis(config: AnalysisConfig, env: Environment, options: { clock: Clock; log: Log }): AnalysisService {
  return { engine: engineOf(config, options), secret: secretsOf(config.secrets, config.engine, env) };
}

function engineOf({ engine, outbound, jobs }: AnalysisConfig, { clock, log }: { clock: Clock; log: Log }): AnalysisEngine {
  const policy = { allow: outbound.allow };
  if (engine === "argo-rollouts") {
    if (jobs === undefined) return noNamespace();
    const onError = (error: unknown) => log.warn({ error: String(error).slice(0, 500) }, "AnalysisRuns could not be listed; trying again");
    return argoRolloutsEngine({ kubeConfig: kubeConfigOf(jobs), namespace: jobs.namespace, clock, onError });
  }
  const onError = (error: unknown, id: string) =>
    log.error({ ...whole(error), id }, "what came of a measurement could not be taken up; please report it");
  if (jobs === undefined) return builtinEngine({ clock, policy, onError });
  const timeoutMs = parseDuration(jobs.timeout) ?? 0;
  return builtinEngine({
    clock,
    policy,
    onError,
    jobs: jobRunner({ kubeConfig: kubeConfigOf(jobs), namespace: jobs.namespace, clock, timeoutMs }),
  });
}

function kubeConfigOf({ kubeconfig, context }: NonNullable<AnalysisConfig["jobs"]>): KubeConfig {
  const made = new KubeConfig();
  try {
    if (kubeconfig === undefined) made.loadFromDefault();
    else made.loadFromFile(kubeconfig);
    if (isMadeUp(made)) throw new Error("none was found ($KUBECONFIG, ~/.kube/config, in-cluster); name one");
    if (context !== undefined) made.setCurrentContext(context);
    if (made.getCurrentCluster() === null) throw new Error("it names no cluster");
    return made;
  } catch (error) {
    throw new SettingError(
      `analysis.jobs.kubeconfig: the kubeconfig cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Read at each use: a secret that is renewed needs no restart. With argo-rollouts the controller reads them, and only the name is judged. */
function secretsOf(secrets: AnalysisConfig["secrets"], engine: AnalysisConfig["engine"], env: Environment): AnalysisService["secret"] {
  checkSecrets(secrets, engine);
  return (repository, name, key) => {
    const found = secrets.find((one) => one.name === name && one.key === key && one.repositories.some((glob) => fits(glob, repository)));
    if (found === undefined) return undefined;
    if (engine === "argo-rollouts") return "";
    if (found.env !== undefined) return env[found.env];
    return found.file === undefined ? undefined : readSecret(found.file);
  };
}

function checkSecrets(secrets: AnalysisConfig["secrets"], engine: AnalysisConfig["engine"]): void {
  for (const secret of secrets) {
    const given = [secret.file, secret.env].filter((one) => one !== undefined).length;
    if (engine === "builtin" && given !== 1)
      throw new SettingError(`analysis.secrets: ${secret.name}/${secret.key} wants either file or env, where its value is`);
  }
}

/** What of analyses and hooks can never work, told all at once by a SettingError; opens nothing that would have to be closed. */
export function checkGates({ analysis, hooks }: Pick<ServerConfig, "analysis" | "hooks">, env: Environment): void {
  const { secrets, engine, jobs } = analysis;
  const errors = gatherSettingErrors();
  errors.keep(() => checkSecrets(secrets, engine));
  if (jobs !== undefined) errors.keep(() => kubeConfigOf(jobs));
  else if (engine === "argo-rollouts") errors.keep(noNamespace);
  for (const [i, { file }] of secrets.entries()) {
    errors.keep(() => {
      if (engine === "builtin" && file !== undefined && readSecret(file) === undefined)
        throw new SettingError(`analysis.secrets[${i}].file: the file ${resolve(file)} cannot be read`);
    });
  }
  errors.keep(() => hookSecret(hooks.secretFile, env));
  errors.throwAny();
}

function noNamespace(): never {
  throw new SettingError("analysis.engine is argo-rollouts, and analysis.jobs does not say in which namespace AnalysisRuns are made");
}

function fits(glob: string, repository: string): boolean {
  return matchesGlob(glob.toLowerCase(), "go", repository.toLowerCase());
}

function readSecret(file: string): string | undefined {
  try {
    return readFileSync(resolve(file), "utf8").replace(/\r?\n$/, "");
  } catch {
    return undefined;
  }
}

/** Asks hooks as the server's configuration allows. Throws SettingError where the file of its secret cannot be read. */
export function openHooks({ outbound, secretFile }: ServerConfig["hooks"], env: Environment, log?: Log): HookCaller {
  const onError = (error: unknown, key: string) =>
    log?.error({ ...whole(error), key }, "who waits for what came of a hook could not be told; the next look finds it");
  return hookCaller({ policy: { allow: outbound.allow }, secret: hookSecret(secretFile, env), onError });
}

function hookSecret(secretFile: string | undefined, env: Environment): string | undefined {
  const direct = env["HOOK_SECRET"]?.trim();
  if (direct !== undefined && direct !== "") return direct;
  const file = env["HOOK_SECRET_FILE"] ?? secretFile;
  const from = env["HOOK_SECRET_FILE"] === undefined ? "hooks.secretFile" : "HOOK_SECRET_FILE";
  if (file === undefined || file === "") return undefined;
  const secret = readSecret(file)?.trim();
  if (secret === undefined || secret === "")
    throw new SettingError(`${from}: the file ${resolve(file)} with the secret of hooks cannot be read, or is empty`);
  return secret;
}
