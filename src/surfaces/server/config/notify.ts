/** Destinations of notifications: checked with the configuration, and opened by the server and by `stagecoach notify test`. */
import { mail } from "../../../adapters/notify/mail.ts";
import { type Destination, openNotifier } from "../../../adapters/notify/notifier.ts";
import { type Notifier, NotSent, type Sender } from "../../../adapters/notify/port.ts";
import { cloudEventWebhook, slackBot, slackWebhook, teams } from "../../../adapters/notify/post.ts";
import type { Shelf } from "../../../adapters/notify/store.ts";
import { globMatcher } from "../../../core/base/glob.ts";
import { show } from "../../../core/base/problem.ts";
import type { Clock } from "../../../core/base/time.ts";
import type { Finding, Path } from "../../../core/reasons/problems/problem.ts";
import type { Log } from "../../../engine/round/context.ts";
import type { Environment } from "./env.ts";
import type { ServerConfig } from "./schema.ts";
import { type DestinationConfig, KEYS_OF_KIND } from "./schema-notify.ts";
import { gatherSettingErrors, readSecretFile } from "./setting-errors.ts";

const SLACK_API = "https://slack.com/api/";

/** What of destinations can never work. */
export function checkDestinations({ notifications: { destinations } }: ServerConfig): Finding[] {
  return destinations.flatMap((one, i) => {
    const path: Path = ["notifications", "destinations", i];
    const isFirst = destinations.findIndex(({ name }) => name === one.name) === i;
    const twice: Finding[] = isFirst ? [] : [{ code: "DESTINATION_TWICE", name: one.name, path: [...path, "name"] }];
    return [...twice, ...keysOf(one, path), ...globsOf(one, path), ...addressesOf(one, path)];
  });
}

function keysOf(one: DestinationConfig, path: Path): Finding[] {
  const { must, may } = KEYS_OF_KIND[one.kind];
  const lacks = must.filter((key) =>
    key === "secret" ? (one.secretFile === undefined) === (one.secretEnv === undefined) : one[key] === undefined,
  );
  const allowed = new Set<string>([
    ...must,
    ...may,
    "name",
    "kind",
    "repositories",
    "networks",
    ...(must.includes("secret") ? ["secretFile", "secretEnv"] : []),
  ]);
  const foreign = Object.keys(one).filter((key) => !allowed.has(key) && one[key as keyof DestinationConfig] !== undefined);
  return [
    ...lacks.map((key): Finding => {
      const name = key === "secret" ? "secretFile" : key;
      return {
        code: "MISSING_KEY",
        kind: "Key",
        key: `${path
          .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
          .join("")
          .slice(1)}.${name}`,
        path,
      };
    }),
    ...foreign.map((key): Finding => {
      const kind =
        Object.entries(KEYS_OF_KIND).find(([, { must: needs, may: takes }]) => [...needs, ...takes].includes(key as never))?.[0] ?? "email";
      return { code: "KEY_OF_OTHER_KIND", key, whose: "destination", kind, is: one.kind, path: [...path, key], atKey: true };
    }),
  ];
}

function globsOf({ repositories }: DestinationConfig, path: Path): Finding[] {
  return repositories.flatMap((given, j): Finding[] => {
    const at = [...path, "repositories", j];
    if (globMatcher(given, "go") === undefined) return [{ code: "TENANT_GLOB", given, fault: "Open", path: at }];
    return given.split("/").length === 2 ? [] : [{ code: "TENANT_GLOB", given, fault: "NoRepository", path: at }];
  });
}

function addressesOf({ url, server }: DestinationConfig, path: Path): Finding[] {
  const isWeb = url === undefined || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol));
  const isMail = server === undefined || mailServer(server) !== undefined;
  return [
    ...(isWeb ? [] : [{ code: "NOT_AN_ADDRESS" as const, given: show(url), path: [...path, "url"] }]),
    ...(isMail ? [] : [{ code: "NOT_A_MAIL_SERVER" as const, given: show(server), path: [...path, "server"] }]),
  ];
}

const TLS = { smtp: "starttls", smtps: "implicit", "smtp+plain": "none" } as const;

function mailServer(text: string): { host: string; port: number; tls: "starttls" | "implicit" | "none" } | undefined {
  const [, scheme, host, port] = /^(smtps?|smtp\+plain):\/\/(\[[0-9a-f:]+\]|[a-z0-9._-]+):(\d{1,5})\/?$/i.exec(text) ?? [];
  if (scheme === undefined || host === undefined || !(Number(port) > 0 && Number(port) <= 65_535)) return undefined;
  return { host: host.replace(/^\[|\]$/g, ""), port: Number(port), tls: TLS[scheme.toLowerCase() as keyof typeof TLS] };
}

/** Secrets as they stand now: they are taken out of every line of the log. */
export function notifySecrets({ notifications: { destinations } }: ServerConfig, env: Environment): string[] {
  return destinations.flatMap((one) => gatherSettingErrors().keep(() => secretOf(one, env)) ?? []);
}

/** Throws SettingError where a secret cannot be read. */
export function checkNotifySecrets({ notifications: { destinations } }: Pick<ServerConfig, "notifications">, env: Environment): void {
  const errors = gatherSettingErrors();
  for (const [i, one] of destinations.entries())
    if (one.secretFile !== undefined) errors.keep(() => secretOf(one, env, `notifications.destinations[${i}].secretFile`));
  errors.throwAny();
}

function secretOf({ secretFile, secretEnv, name }: DestinationConfig, env: Environment, at = name): string | undefined {
  if (secretEnv !== undefined) return env[secretEnv]?.trim();
  return secretFile === undefined ? undefined : readSecretFile(at, secretFile);
}

export function openDestinations(
  { notifications: { destinations } }: Pick<ServerConfig, "notifications">,
  env: Environment,
): Destination[] {
  return destinations.map((one) => ({ name: one.name, repositories: one.repositories, sender: guarded(one, env) }));
}

/** undefined: there are none, and nobody is told anything. */
export function openNotifications(
  config: Pick<ServerConfig, "notifications">,
  env: Environment,
  options: { directory: string | Shelf; clock: Clock; log: Log },
): Notifier | undefined {
  const destinations = openDestinations(config, env);
  return destinations.length === 0 ? undefined : openNotifier({ ...options, destinations });
}

function senderOf(one: DestinationConfig, env: Environment): Sender {
  const { kind, networks, url = "", channel = "", mode = "structured", server = "", user, from = "", to = [] } = one;
  const secret = () => secretOf(one, env);
  const needed = () => {
    const value = gatherSettingErrors().keep(secret);
    if (value === undefined || value === "") throw new NotSent("its secret is not there", true);
    return value;
  };
  if (kind === "slack") return slackBot({ api: url === "" ? SLACK_API : url.replace(/\/?$/, "/"), channel, token: needed }, { networks });
  if (kind === "slack-webhook") return slackWebhook(needed, { networks });
  if (kind === "teams") return teams(needed, { networks });
  if (kind === "webhook") return cloudEventWebhook({ url, mode, secret: needed }, { networks });
  const place = mailServer(server) ?? { host: "", port: 0, tls: "starttls" as const };
  return mail({ ...place, user, password: secret, from, to }, { networks });
}

/** Whatever a service answers, its secret is in no message of ours. */
function guarded(one: DestinationConfig, env: Environment): Sender {
  const sender = senderOf(one, env);
  const clean = (text: string) => {
    const secret = gatherSettingErrors().keep(() => secretOf(one, env));
    return secret === undefined || secret === "" ? text : text.replaceAll(secret, "[redacted]");
  };
  const cleaned = (error: unknown): never => {
    if (error instanceof NotSent) throw new NotSent(clean(error.message), error.again, error.afterMs);
    throw new Error(clean(String(error)));
  };
  const { update } = sender;
  const guardedSender: Sender = {
    most: sender.most,
    send: (notice, thread) => sender.send(notice, thread).then(({ answer, ...rest }) => ({ ...rest, answer: clean(answer) }), cleaned),
  };
  if (update !== undefined) guardedSender.update = (card, repository, thread) => update(card, repository, thread).catch(cleaned);
  return guardedSender;
}
