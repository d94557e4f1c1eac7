import { type AnyReason, type NoData, reasonsOf } from "../base/reason.ts";

type Because = { because: AnyReason };

/** Why an Argo CD cannot be read, asked or steered: each code with its data. `core/report/reasons/control-plane.ts` says them. */
export interface ControlPlaneReasons {
  /** What a server, Node or a library says itself. */
  PROGRAM_SAYS: { message: string };

  NO_CONNECTION: NoData;
  /** `advice`: what to do where asking again does not help. */
  COLLECTION_LOST: Because & { what: string; advice?: AnyReason | undefined };
  COLLECTION_UNLISTED: { what: string };
  COLLECTION_SILENT: { what: string; seconds: number };
  COLLECTION_CLOSED: { what: string };
  TOO_MANY_OBJECTS: { what: string; most: number };
  TOO_MANY_CHANGES: { what: string };
  NO_ARGOCD_LIST: { message?: string | undefined };
  EMPTY_LIST_SAYS_NOTHING: { what: string };

  ADVISE_ADDRESS: NoData;
  ADVISE_TOKEN: NoData;
  ADVISE_RBAC: { what: string };
  ADVISE_INSTALL: { path: string };
  ADVISE_CREDENTIALS: NoData;
  ADVISE_ROLE: { resource: string; namespace?: string | undefined };

  ADDRESS_UNUSABLE: { problem: "noUrl" | "scheme" | "password" | "unencrypted"; origin?: string | undefined };
  /** `unreadable`: the code of the error. */
  TOKEN_UNUSABLE: { file?: string | undefined; problem: "empty" | "invalid" | { unreadable: string } };
  KUBECONFIG_UNUSABLE: { problem: "none" | "noContext" | "noAddress" };
  KUBECONFIG_CREDENTIALS: Because;

  HOST_SILENT: { origin: string; seconds: number };
  HOST_SLOW: { origin: string; ms: number };
  HOST_UNANSWERING: Because & { origin: string };
  HOST_BROKE_OFF: { origin: string };
  HOST_FAILED: Because & { origin: string };
  HOST_REDIRECTS: { origin: string; to: string };
  HOST_STATUS: { origin: string; status: number };
  CERTIFICATE_UNTRUSTED: { tls: string };
  CERTIFICATE_OTHER_NAME: { message: string };
  CERTIFICATE_EXPIRED: NoData;

  ANSWER_NO_APPLICATION: NoData;
  ANSWER_NO_JSON: { origin: string; argocd?: true | undefined };
  ANSWER_UNREADABLE: Because & { origin: string };
  ANSWER_TOO_LARGE: { what: "answer" | "object" | "event" | "head"; most: number; origin?: string | undefined };
  /** No `byte`: it broke off. */
  ANSWER_BROKEN: { byte?: number | undefined };
  STREAM_ENDED: NoData;
  ANSWER_OTHER_REVISION: { asked: string; answered: string };
  MANIFEST_UNREADABLE: Because;

  /** `grant`: the line of policy without which it is refused. */
  GRANT_WANTED: Because & { grant: string };
  PATCH_WANTED: Because & { resource: string };
  APPLICATION_UNKNOWN: { namespace: string; name: string };
  /** `known`: Argo CD does not offer it now. */
  ACTION_NOT_OFFERED: { action: string; rollout: string; known: boolean };

  /** Why the bot does not ask for a sync itself: what it would bring, or whether it is wanted still, cannot be told. */
  SYNC_UNSAFE: {
    kind:
      | ("Hydrated" | "NoRevision" | "NoBefore" | "NotAllowed" | "Gone" | "Automated" | "Busy" | "Moved" | "Done" | "NoSync" | "More")
      | ("Rendering" | "Window" | "Plane");
  };

  // What a repository is not granted.
  NOT_GRANTED: { because: AnyReason };
  APPLICATION_NOT_GRANTED: { application: string };
  TEMPLATE_NOT_GRANTED: NoData;
}

/** Makes a reason of a control plane. */
export const planeReason = reasonsOf<ControlPlaneReasons>();
