/** What measures and what asks hooks is opened as the configuration says; what can never work is refused at the start. */
import { builtinEngine } from "../../../adapters/analysis/builtin/index.ts";
import type { AnalysisEngine, AnalysisService } from "../../../adapters/analysis/port.ts";
import { isMadeUp } from "../../../adapters/argocd/kubernetes/client.ts";
import { hookCaller } from "../../../adapters/hooks/caller.ts";
import type { HookCaller } from "../../../adapters/hooks/port.ts";
import type { OutboundPolicy } from "../../../adapters/outbound/outbound.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { type Clock, parseDuration } from "../../../core/base/time.ts";
import { setting } from "../../../core/reasons/settings.ts";
import type { Log } from "../../../engine/round/context.ts";
import { whole } from "../deliveries/uncaught.ts";
import { matchesRepository } from "../tenancy/tenancy.ts";
import type { Environment } from "./env.ts";
import { usableKubeConfig } from "./kube-config.ts";
import type { ServerConfig } from "./schema.ts";
import { gatherSettingErrors, readSecretFile, readSettingFile, SettingError } from "./setting-errors.ts";

type AnalysisConfig = ServerConfig["analysis"];

/** The engine of the server's configuration, and what of its secrets a repo may use. Rejects with SettingError for what can never work. */
export async function openAnalysis(
  config: AnalysisConfig,
  env: Environment,
  options: { clock: Clock; log: Log },
): Promise<AnalysisService> {
  /** Value of a secret, once it was asked for → where it may go. */
  const bound = new BoundedMap<string, readonly string[]>(MOST_SECRETS);
  const secret = secretsOf(config.secrets, config.engine, env, (value, hosts) => void bound.set(value, meet(bound.get(value), hosts)));
  return { engine: await engineOf(config, { ...options, boundTo: (value) => bound.get(value) }), secret };
}

const MOST_SECRETS = 1000;

/** Two secrets of one value may go where both may. */
function meet(before: readonly string[] | undefined, hosts: readonly string[]): readonly string[] {
  return before?.filter((host) => hosts.includes(host)) ?? hosts;
}

type EngineOptions = { clock: Clock; log: Log } & Pick<OutboundPolicy, "boundTo">;

/** What makes objects in a cluster is loaded by servers that do: Kubernetes' client brings a class for each kind there is. */
async function engineOf(
  { engine, outbound, jobs: place }: AnalysisConfig,
  { clock, log, boundTo }: EngineOptions,
): Promise<AnalysisEngine> {
  if (engine === "argo-rollouts") {
    if (place === undefined) return noNamespace();
    const onError = (error: unknown) => log.warn({ error: String(error).slice(0, 500) }, "AnalysisRuns could not be listed; trying again");
    const { namespace, namespaces } = place;
    const { argoRolloutsEngine } = await import("../../../adapters/analysis/argo-rollouts/index.ts");
    return argoRolloutsEngine({ kubeConfig: jobsKubeConfig(place), namespace, namespaces, clock, onError });
  }
  const onError = (error: unknown, id: string) =>
    log.error({ ...whole(error), id }, "what came of a measurement could not be taken up; please report it");
  const builtin = { clock, policy: { allow: outbound.allow, boundTo }, onError };
  if (place === undefined) return builtinEngine(builtin);
  const { namespace, namespaces, timeout } = place;
  const { jobRunner } = await import("../../../adapters/analysis/builtin/jobs.ts");
  return builtinEngine({
    ...builtin,
    jobs: jobRunner({ kubeConfig: jobsKubeConfig(place), namespace, namespaces, clock, timeoutMs: parseDuration(timeout) ?? 0 }),
  });
}

function jobsKubeConfig(place: NonNullable<AnalysisConfig["jobs"]>) {
  const made = usableKubeConfig("analysis.jobs", place);
  if (!isMadeUp(made)) return made;
  throw new SettingError(setting("SETTING_UNUSABLE", { setting: "analysis.jobs.kubeconfig", because: setting("KUBECONFIG_MISSING") }));
}

/** Read at each use: a secret that is renewed needs no restart. With argo-rollouts the controller reads them, and only the name is judged. */
function secretsOf(
  secrets: AnalysisConfig["secrets"],
  engine: AnalysisConfig["engine"],
  env: Environment,
  given: (value: string, hosts: readonly string[]) => void,
): AnalysisService["secret"] {
  checkSecrets(secrets, engine);
  return (repository, name, key) => {
    const found = secrets.find(
      (one) => one.name === name && one.key === key && one.repositories.some((glob) => matchesRepository(glob, repository)),
    );
    if (found === undefined) return undefined;
    if (engine === "argo-rollouts") return "";
    const value = secretValue(found, env);
    if (value !== undefined) given(value, found.hosts);
    return value;
  };
}

function secretValue(secret: AnalysisConfig["secrets"][number], env: Environment): string | undefined {
  const { file } = secret;
  if (secret.env !== undefined) return env[secret.env];
  return file === undefined ? undefined : gatherSettingErrors().keep(() => readSettingFile("", file).replace(/\r?\n$/, ""));
}

function checkSecrets(secrets: AnalysisConfig["secrets"], engine: AnalysisConfig["engine"]): void {
  if (engine !== "builtin") return;
  for (const { name, key, file, env } of secrets)
    if ((file === undefined) === (env === undefined)) throw new SettingError(setting("SETTING_SECRET_PLACE", { secret: `${name}/${key}` }));
}

/** What of analyses and hooks can never work, told all at once by a SettingError; opens nothing that would have to be closed. */
export function checkGates({ analysis, hooks }: Pick<ServerConfig, "analysis" | "hooks">, env: Environment): void {
  const { secrets, engine, jobs } = analysis;
  const errors = gatherSettingErrors();
  errors.keep(() => checkSecrets(secrets, engine));
  if (jobs !== undefined) errors.keep(() => jobsKubeConfig(jobs));
  else if (engine === "argo-rollouts") errors.keep(noNamespace);
  for (const [i, { file }] of secrets.entries())
    if (engine === "builtin" && file !== undefined) errors.keep(() => readSettingFile(`analysis.secrets[${i}].file`, file));
  errors.keep(() => hookSecret(hooks.secretFile, env));
  errors.throwAny();
}

function noNamespace(): never {
  throw new SettingError(setting("ANALYSIS_NAMESPACE"));
}

/** Asks hooks as the server's configuration allows. Throws SettingError where the file of its secret cannot be read. */
export function openHooks(
  { outbound, secretFile }: ServerConfig["hooks"],
  env: Environment,
  { log, traceparent }: { log?: Log; traceparent?: () => string | undefined } = {},
): HookCaller {
  const onError = (error: unknown, key: string) =>
    log?.error({ ...whole(error), key }, "who waits for what came of a hook could not be told; the next look finds it");
  return hookCaller({ policy: { allow: outbound.allow }, secret: hookSecret(secretFile, env), onError, traceparent });
}

function hookSecret(secretFile: string | undefined, env: Environment): string | undefined {
  const direct = env["HOOK_SECRET"]?.trim();
  if (direct !== undefined && direct !== "") return direct;
  const file = env["HOOK_SECRET_FILE"] ?? secretFile;
  const from = env["HOOK_SECRET_FILE"] === undefined ? "hooks.secretFile" : "HOOK_SECRET_FILE";
  return file === undefined || file === "" ? undefined : readSecretFile(from, file);
}
