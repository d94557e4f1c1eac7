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
      `${setting}: the file ${file} cannot be read (${fault}${fault === "ENOENT" ? ": it is not there" : ""})`,
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
  NOT_A_PORT: { says: "{setting} is not a port: a number from 0 to 65535 is wanted" },
  NOT_A_DURATION: { says: "{setting} is not a duration; write 90s, 5m or 1h30m" },
  DURATION_TOO_SHORT: { says: "{setting} is less than {least}; write {least} or more" },
  NOT_A_CHOICE: { says: "{setting} is none of {known}" },
  APP_ID_MISSING: { says: "there is a private key and no APP_ID; the App's settings page shows its id" },
  APP_ID_INVALID: { says: "APP_ID is not a number; the App's settings page shows it as App ID" },
  APP_KEY_MISSING: {
    says: "there is an APP_ID and no private key; set PRIVATE_KEY_FILE to the .pem file that the App's settings page gives",
  },
  APP_KEY_NO_PEM: { says: "the private key is no PEM; take the .pem file that the App's settings page gives, as it is" },
  WEBHOOK_SECRET_MISSING: {
    says: `there is no webhook secret: ${PRETEND}. Set WEBHOOK_SECRET (or WEBHOOK_SECRET_FILE) to the one in the App's settings`,
  },
  WEBHOOK_SECRET_PUBLIC: {
    says: `WEBHOOK_SECRET is "development", which everybody knows: ${PRETEND}. Choose another, in the App's settings and here`,
  },
  KUBECONFIG_MISSING: { says: "the kubeconfig cannot be used: none was found ($KUBECONFIG, ~/.kube/config, in-cluster); name one" },
  KUBECONFIG_CONTEXT: { says: 'the kubeconfig has no context "{context}"; it has [{known}|none]' },
  KUBECONFIG_CLUSTER: { says: "the kubeconfig names no current cluster; set current-context" },
  ANALYSIS_NAMESPACE: { says: "analysis.engine is argo-rollouts, and analysis.jobs does not say in which namespace AnalysisRuns are made" },
  SETTING_SECRET_PLACE: { says: "analysis.secrets: {secret} wants either file or env, where its value is" },
  NO_DIRECTORY: { says: "{path} is no directory" },
  MIRRORS_NOT_MADE: { says: "the directory {path} for mirrors cannot be made ({fault})" },
  PORT_TAKEN: { says: "a port is taken: {said}; set PORT (now {port}) or INSIDE_PORT (now {insidePort})" },
  GITHUB_NOT_REACHED: {
    says: {
      own: {
        true: "{url} cannot be reached: {said}; is GHE_HOST right?",
        false: "{url} cannot be reached: {said}; is the network right?",
      },
    },
  },
  APP_KEY_REFUSED: {
    says: "{url} refuses the App's key: are APP_ID and the private key of the same App, and is this machine's clock right?",
  },
  APP_UNKNOWN: { says: "{url} knows no such App; is GHE_HOST right?" },
  GITHUB_SAID: { says: "{url} answered {status}: {said}" },
  NOT_STARTED: { says: "the bot could not start: {said}" },
});
