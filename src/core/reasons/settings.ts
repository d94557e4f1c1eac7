import { type AnyReason, type NoData, reasonsOf } from "../base/reason.ts";
import type { Problem, ProblemReason } from "./problems/problem.ts";

/** Why the server cannot start with its settings. Data never hold a secret. `setting`: as people write it: `PORT`, `commits.sshKeyFile`. */
export interface SettingReasons {
  SETTING_UNUSABLE: { setting: string; because: AnyReason };
  /** said: in the words of a library, or of the system. */
  SETTING_REFUSED: { setting: string; said: string };
  SETTING_PROBLEM: { setting: string; problem: ProblemReason };
  /** fault: the system's code, such as ENOENT. */
  SETTING_FILE: { setting: string; file: string; fault: string };
  SETTING_FILE_EMPTY: { setting: string; file: string };
  CONFIG_INVALID: { problems: readonly Problem[] };
  NOT_A_PORT: { setting: string };
  PORTS_SAME: { port: number };
  NOT_A_DURATION: { setting: string };
  DURATION_TOO_SHORT: { setting: string; least: string };
  NOT_A_CHOICE: { setting: string; known: readonly string[] };
  APP_ID_MISSING: NoData;
  APP_ID_INVALID: NoData;
  APP_KEY_MISSING: NoData;
  APP_KEY_NO_PEM: NoData;
  WEBHOOK_SECRET_MISSING: NoData;
  WEBHOOK_SECRET_PUBLIC: NoData;
  LOGIN_CLIENT_MISSING: NoData;
  SECRET_TOO_SHORT: { setting: string; least: number };
  DURATION_TOO_LONG: { setting: string; most: string };
  PROXY_HEADERS: NoData;
  KUBECONFIG_MISSING: NoData;
  KUBECONFIG_CONTEXT: { context: string; known: readonly string[] };
  KUBECONFIG_CLUSTER: NoData;
  ANALYSIS_NAMESPACE: NoData;
  SETTING_SECRET_PLACE: { secret: string };
  NO_DIRECTORY: { path: string };
  MIRRORS_NOT_MADE: { path: string; fault: string };
  PORT_TAKEN: { said: string; port: number; insidePort: number };
  /** own: the host of an Enterprise Server. */
  GITHUB_NOT_REACHED: { url: string; said: string; own: boolean };
  APP_KEY_REFUSED: { url: string };
  APP_UNKNOWN: { url: string };
  GITHUB_SAID: { url: string; status: number; said: string };
  NOT_STARTED: { said: string };
  /** said: in PostgreSQL's words, or the system's. */
  DATABASE_AWAY: { said: string };
  DATABASE_LOGIN: { said: string };
  DATABASE_TLS: { said: string };
  DATABASE_READ_ONLY: NoData;
  DATABASE_FULL: { said: string };
  DATABASE_RIGHTS: { said: string };
  DATABASE_EMPTY: NoData;
  /** Counted in steps. */
  DATABASE_OLDER: { is: number; wanted: number };
  DATABASE_NEWER: { is: number; known: number };
  DATABASE_ADDRESS: NoData;
  DATABASE_URL_MISSING: NoData;
}

export const setting = reasonsOf<SettingReasons>();
