/** Why an Argo CD cannot be read, asked or steered. */
import { count } from "../../base/count.ts";
import { formatDuration } from "../../base/time.ts";
import type { ControlPlaneReasons } from "../../reasons/control-plane.ts";
import type { Entries } from "./entry.ts";
import { sha } from "./phrases.ts";
import type { Wording } from "./wording.ts";

type Says = { readonly [Code in keyof ControlPlaneReasons]: Wording<{ readonly code: Code } & Readonly<ControlPlaneReasons[Code]>> };

const KUBECONFIG = {
  none: "no kubeconfig was found ($KUBECONFIG, ~/.kube/config, in-cluster): configure controlPlanes with the kubeconfig of the cluster Argo CD runs in, or set KUBECONFIG",
  noContext: "the kubeconfig names no current cluster; set current-context",
  noAddress: "the kubeconfig's current cluster has no address",
};

const SAYS: Says = {
  PROGRAM_SAYS: "{message}",

  NO_CONNECTION: "no connection",
  COLLECTION_LOST: ({ what, because, advice }, names) =>
    `${what}: ${names.because(because)}${advice === undefined ? "" : `; ${names.because(advice)}`}`,
  COLLECTION_UNLISTED: "Stagecoach has not listed its {what} yet",
  COLLECTION_SILENT: ({ what, seconds }) => `it has sent nothing of its ${what} for ${formatDuration(seconds * 1000)}`,
  COLLECTION_CLOSED: "it closed the connection that brings its {what}",
  TOO_MANY_OBJECTS: "it has more {what} than {most}",
  TOO_MANY_CHANGES: "its {what} change faster than Stagecoach can list them",
  NO_ARGOCD_LIST: ({ message }) =>
    `the answer is not a list from Argo CD${message === undefined ? ": it has no items" : ` (${message}); is it the right address?`}`,
  EMPTY_LIST_SAYS_NOTHING: "forbidden: the account may not get {what}, so an empty list says nothing",

  ADVISE_ADDRESS: "nothing answers there; is it Argo CD's address, with its root path?",
  ADVISE_TOKEN: "the token is not accepted: give one that has not expired (argocd account generate-token)",
  ADVISE_RBAC: "grant it in argocd-rbac-cm: p, ACCOUNT, {what}, get, PROJECT/*, allow",
  ADVISE_INSTALL: "{path} does not exist: is Argo CD installed in this cluster?",
  ADVISE_CREDENTIALS: "the kubeconfig's credentials are not accepted",
  ADVISE_ROLE: ({ resource, namespace }) => {
    const where = namespace === undefined ? "in a ClusterRole" : `in a Role of the namespace ${namespace}`;
    return `grant the verbs get, list and watch on ${resource} ${where}`;
  },

  ADDRESS_UNUSABLE: ({ problem, origin }) =>
    ({
      noUrl: "Argo CD's address is not a URL; write https://HOST",
      scheme: "Argo CD's address has to begin with https://",
      password: "Argo CD's address holds a password; give a token instead",
      unencrypted: `the token would travel to ${origin} unencrypted; use https://, or allow it with insecure: true`,
    })[problem],
  TOKEN_UNUSABLE: ({ file, problem }) => {
    const token = file === undefined ? "the token" : `the token in ${file}`;
    if (problem === "empty") return `${token} is empty`;
    return problem === "invalid" ? `${token} holds something that is not a token` : `${token} cannot be read (${problem.unreadable})`;
  },
  KUBECONFIG_UNUSABLE: ({ problem }) => KUBECONFIG[problem],
  KUBECONFIG_CREDENTIALS: "the kubeconfig's credentials cannot be used: {because}",

  HOST_SILENT: ({ origin, seconds }) => `${origin} sent nothing for ${formatDuration(seconds * 1000)}`,
  HOST_SLOW: ({ origin, ms }) => `${origin} took longer than ${formatDuration(ms)}`,
  HOST_UNANSWERING: "no answer from {origin}: {because}",
  HOST_BROKE_OFF: "{origin} broke off in the middle of its answer",
  HOST_FAILED: "{origin}: {because}",
  HOST_REDIRECTS: "{origin} redirects to {to}; give the address that Argo CD is served at",
  HOST_STATUS: "HTTP {status} from {origin}",
  CERTIFICATE_UNTRUSTED: "no CA that is trusted here signed its certificate ({tls}); give the CA that did",
  CERTIFICATE_OTHER_NAME: "its certificate is for another name ({message})",
  CERTIFICATE_EXPIRED: "its certificate has expired (CERT_HAS_EXPIRED)",

  ANSWER_NO_APPLICATION: "the answer is not an Application",
  ANSWER_NO_JSON: ({ origin, argocd }) =>
    `${origin} does not answer in JSON; is it ${argocd === true ? "Argo CD's" : "the right"} address?`,
  ANSWER_UNREADABLE: "the answer of {origin} cannot be read: {because}",
  ANSWER_TOO_LARGE: ({ what, most, origin }) => {
    if (what === "head") return "the head of the answer is larger than that of any list";
    const whole = what === "answer" ? `the answer${origin === undefined ? "" : ` of ${origin}`}` : `an ${what}`;
    return `${whole} is larger than ${count(most, "byte")}`;
  },
  ANSWER_BROKEN: ({ byte }) => (byte === undefined ? "the answer broke off" : `the answer is not JSON at byte ${byte}`),
  STREAM_ENDED: "the stream ended with an error",
  ANSWER_OTHER_REVISION: ({ asked, answered }) =>
    `Argo CD answered with the manifests of ${sha(answered)}, and was asked for those of ${sha(asked)}`,
  MANIFEST_UNREADABLE: "one of the manifests cannot be read: {because}",

  GRANT_WANTED: "{because}; grant it: {grant}",
  PATCH_WANTED: "{because}; grant the verb patch on {resource}, as allowRefresh needs",
  APPLICATION_UNKNOWN: "there is no Application {namespace}/{name}",
  ACTION_NOT_OFFERED: ({ action, rollout, known }) =>
    known ? `Argo CD does not offer ${action} for ${rollout} as it is now` : `Argo CD knows no action ${action} for ${rollout}`,
  SYNC_UNSAFE: {
    kind: {
      Hydrated: "the bot asks for no sync of a hydrated Application",
      NoRevision: "Argo CD shows no fixed revision of one of its sources",
      NoBefore: "it cannot be told what the Application was made from before this batch",
      NotAllowed: "its control plane does not allow the bot to ask for syncs (`allowSync`)",
      Gone: "the Application is gone, or another one has its name",
      Automated: "automated sync is on again",
      Busy: "an operation is under way",
      Moved: "its sources have changed since",
      Done: "it was synced to this revision already, and is OutOfSync all the same: something is to be pruned, or does not hold",
      NoSync: "what is deployed cannot be told: its last sync did not succeed, was a dry run or partial, or is not known",
      More: "its spec has waiting changes of others, which a sync would bring along",
      Rendering: "it has waiting changes of others, which a sync would bring along",
      Window: "a sync window is closed",
      Plane: "Argo CD renders another revision than it is asked for",
    },
  },
  NOT_GRANTED: "{because}; the operator grants more under `tenancy` in the server's configuration",
  APPLICATION_NOT_GRANTED: "this repository may not use Application {application}",
  TEMPLATE_NOT_GRANTED: "this repository may not use the Argo CD project of the ApplicationSet's template",
};

export const CONTROL_PLANE = Object.fromEntries(
  Object.entries(SAYS).map(([code, says]) => [code, { subject: "controlPlane", says }]),
) as unknown as Entries<ControlPlaneReasons>;
