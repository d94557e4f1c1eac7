import { delimiter } from "node:path";

/**
 * The environment every git process of ours runs in, whoever starts it: nothing of the user's or the machine's
 * configuration, no prompt, no hook, only the protocols asked for. Credentials travel here and nowhere else: as
 * `GIT_CONFIG_*` variables, which other users of the machine cannot read as they can read a command line.
 */
const INHERITED = [
  "PATH",
  "SYSTEMROOT",
  "TMPDIR",
  "TEMP",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "all_proxy",
  "HTTPS_PROXY",
  "NO_PROXY",
  "ALL_PROXY",
] as const;

export interface Credentials {
  username: string;
  password: string;
}

/** Old histories of real projects carry these harmless flaws; a mirror that refused them could never be made. */
export const KNOWN_FLAWS = ["zeroPaddedFilemode", "badTimezone", "missingSpaceBeforeDate", "multipleAuthors", "nullSha1"];

function fixedConfig(): [string, string][] {
  return [
    ["core.hooksPath", "/dev/null"],
    ["core.quotePath", "false"],
    ["credential.helper", ""],
    ["fetch.fsckObjects", "true"],
    ["transfer.fsckObjects", "true"],
    ...KNOWN_FLAWS.map((flaw): [string, string] => [`fetch.fsck.${flaw}`, "warn"]),
    ["gc.autoDetach", "false"],
    ["http.followRedirects", "false"],
    ["http.lowSpeedLimit", "1000"],
    ["http.lowSpeedTime", "30"],
    ["protocol.version", "2"],
  ];
}

/** Of the remote that a mirror is configured for. */
const PROMISES: readonly [string, string][] = [
  ["remote.origin.promisor", "true"],
  ["remote.origin.partialCloneFilter", "blob:none"],
];

interface GitEnvironment {
  allowFile?: boolean;
  remote?: string | undefined;
  credentials?: Credentials | undefined;
  /** What is missing here is known to be at the mirror's remote. Nobody else is told, so that git never fetches it by the way. */
  partial?: boolean | undefined;
  /** Folders of objects that are read, too, relative to the directory. */
  alternates?: readonly string[] | undefined;
  /** Where objects are written instead. */
  objects?: string | undefined;
}

/**
 * Variables for one git process on the repository at `directory`. With `remote` and `credentials` the header is bound to
 * that host, so that no other one is ever sent it.
 */
export function gitEnvironment(directory: string, options: GitEnvironment = {}): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of INHERITED) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  const config = fixedConfig();
  if (options.remote !== undefined && options.credentials !== undefined) config.push(header(options.remote, options.credentials));
  if (options.partial === true) config.push(...PROMISES);
  for (const [at, [key, value]] of config.entries()) {
    env[`GIT_CONFIG_KEY_${at}`] = key;
    env[`GIT_CONFIG_VALUE_${at}`] = value;
  }
  const also = [...(options.objects === undefined ? [] : ["objects"]), ...(options.alternates ?? [])];
  if (also.length > 0) env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = also.join(delimiter);
  if (options.objects !== undefined) env["GIT_OBJECT_DIRECTORY"] = options.objects;
  return {
    ...env,
    GIT_CONFIG_COUNT: String(config.length),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_DIR: directory,
    GIT_TERMINAL_PROMPT: "0",
    GIT_ALLOW_PROTOCOL: options.allowFile === true ? "http:https:file" : "http:https",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_LITERAL_PATHSPECS: "1",
    HOME: directory,
    XDG_CONFIG_HOME: directory,
    LC_ALL: "C",
  };
}

function header(remote: string, credentials: Credentials): [string, string] {
  return [`http.${new URL(remote).origin}/.extraHeader`, `Authorization: ${credentialsHeader(credentials)}`];
}

/** The value of an `Authorization` header. */
export function credentialsHeader({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}
