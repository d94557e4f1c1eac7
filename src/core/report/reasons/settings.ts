import type { SettingReasons } from "../../reasons/settings.ts";
import { entriesOf } from "./entry.ts";
import { sayProblem } from "./problems/problems.ts";

const PRETEND = "anybody could then pretend to be GitHub";

/** Why the server cannot start with its settings: a line each, with what to do. */
export const SETTINGS = entriesOf<SettingReasons>()({
  SETTING_UNUSABLE: { says: "{setting}: {because}" },
  SETTING_REFUSED: { says: "{setting}: {said}" },
  SETTING_PROBLEM: {
    says({ setting, problem }) {
      const { message, hint } = sayProblem(problem);
      return `${setting}: ${message} → ${hint}`;
    },
  },
  SETTING_FILE: {
    says: ({ setting, file, fault }) =>
      `${setting}: the file ${file} cannot be read (${fault}${fault === "ENOENT" ? ": it does not exist" : ""})`,
  },
  SETTING_FILE_EMPTY: { says: "{setting}: the file {file} is empty" },
  CONFIG_INVALID: {
    says({ problems }) {
      const lines = problems.map((problem) => {
        const { message, hint } = sayProblem(problem);
        return `${problem.file}:${problem.line}:${problem.column}: ${message} [${problem.code}]\n  → ${hint}`;
      });
      return ["the configuration cannot be used", ...lines].join("\n");
    },
  },
  NOT_A_PORT: { says: "{setting} is not a port: write a number from 0 to 65535" },
  PORTS_SAME: {
    says: "listen.port (or PORT) and inside.port (or INSIDE_PORT) are both {port}: what GitHub reaches and what stays inside need a port each; change one",
  },
  NOT_A_DURATION: { says: "{setting} is not a duration; write 90s, 5m or 1h30m" },
  DURATION_TOO_SHORT: { says: "{setting} is less than {least}; write {least} or more" },
  NOT_A_CHOICE: { says: "{setting} has to be one of {known}" },
  APP_ID_MISSING: { says: "a private key is set and APP_ID is not; the App's settings page shows it as App ID" },
  APP_ID_INVALID: { says: "APP_ID is not a number; the App's settings page shows it as App ID" },
  APP_KEY_MISSING: {
    says: "APP_ID is set and the private key is not; set PRIVATE_KEY_FILE to the .pem file that the App's settings page gives",
  },
  APP_KEY_NO_PEM: { says: "the private key is not in PEM format; use the .pem file that the App's settings page gives, as it is" },
  WEBHOOK_SECRET_MISSING: {
    says: `no webhook secret is set: ${PRETEND}. Set WEBHOOK_SECRET (or WEBHOOK_SECRET_FILE) to the one in the App's settings`,
  },
  WEBHOOK_SECRET_PUBLIC: {
    says: `WEBHOOK_SECRET is "development", which everybody knows: ${PRETEND}. Choose another, in the App's settings and here`,
  },
  LOGIN_CLIENT_MISSING: {
    says: "inside.login needs the App's client id and a client secret; set GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET_FILE from the App's settings page",
  },
  SECRET_TOO_SHORT: { says: "{setting}: the secret has fewer than {least} characters; openssl rand -hex 32 makes one" },
  DURATION_TOO_LONG: { says: "{setting} is more than {most}; write {most} or less" },
  PROXY_HEADERS: { says: "inside.proxy: header and secretHeader are the same; the name and the secret each need one" },
  KUBECONFIG_MISSING: { says: "no kubeconfig was found ($KUBECONFIG, ~/.kube/config, in-cluster); name one" },
  KUBECONFIG_CONTEXT: { says: 'the kubeconfig has no context "{context}"; it has [{known}|none]' },
  KUBECONFIG_CLUSTER: { says: "the kubeconfig names no current cluster; set current-context" },
  ANALYSIS_NAMESPACE: { says: "analysis.engine is argo-rollouts, and analysis.jobs does not name the namespace for its AnalysisRuns" },
  SETTING_SECRET_PLACE: { says: "analysis.secrets: {secret} needs either file or env, to say where its value is" },
  NO_DIRECTORY: { says: "{path} is not a directory" },
  MIRRORS_NOT_MADE: { says: "Stagecoach cannot create the directory {path} for its copies of repositories ({fault})" },
  PORT_TAKEN: { says: "a port is in use already: {said}; set PORT (now {port}) or INSIDE_PORT (now {insidePort})" },
  GITHUB_NOT_REACHED: {
    says: {
      own: {
        true: "Stagecoach cannot reach {url}: {said}; is GHE_HOST right?",
        false: "Stagecoach cannot reach {url}: {said}; is a proxy or firewall in between?",
      },
    },
  },
  APP_KEY_REFUSED: {
    says: "{url} refuses the App's key: are APP_ID and the private key of the same App, and is this machine's clock right?",
  },
  APP_UNKNOWN: { says: "{url} knows no App with this APP_ID; is GHE_HOST right?" },
  GITHUB_SAID: { says: "{url} answered {status}: {said}" },
  NOT_STARTED: { says: "Stagecoach could not start: {said}" },
  DATABASE_AWAY: { says: "PostgreSQL does not answer: {said}; is the address in queue.urlFile right, and may this machine reach it?" },
  DATABASE_LOGIN: { says: "PostgreSQL lets Stagecoach in under no such name, password or database: {said}; see queue.urlFile" },
  DATABASE_TLS: {
    says: "PostgreSQL is not who it should be: {said}; sslrootcert in queue.urlFile names the file with its CA, and its host has to be on its certificate",
  },
  DATABASE_READ_ONLY: { says: "PostgreSQL takes no writes: it is a standby, or was set read-only; queue.urlFile has to name the primary" },
  DATABASE_FULL: { says: "PostgreSQL has no room: {said}; give it more disk or memory" },
  DATABASE_RIGHTS: { says: "PostgreSQL does not allow it: {said}; docs/operations.md has what the role needs" },
  DATABASE_EMPTY: {
    says: "the database has no tables of Stagecoach's, and this role may not make them; run stagecoach migrate with a role that may",
  },
  DATABASE_OLDER: {
    says: "the database is at step {is}, this version needs {wanted}, and this role may not change it; run stagecoach migrate with a role that may",
  },
  DATABASE_NEWER: {
    says: "the database is at step {is}, made by a newer version that this one, which knows {known}, cannot work beside; start the newer version here",
  },
  DATABASE_ADDRESS: {
    says: "queue.urlFile holds no address of PostgreSQL; write postgresql://user:password@host:5432/database into it, percent-encoded in the password: @ is %40, / is %2F, ? is %3F, # is %23",
  },
  DATABASE_URL_MISSING: {
    says: "queue.kind is postgres, and no address is given; set queue.urlFile to a file with it, or DATABASE_URL_FILE",
  },
});
