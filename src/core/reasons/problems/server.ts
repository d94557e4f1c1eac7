/** What is wrong with the server's configuration, beside what may be wrong with any file of settings. */
export interface ServerProblems {
  PLANE_NAME: { given: string };
  /** A label that its operator gives a control plane. */
  PLANE_LABEL: { given: string };
  PLANE_TWICE: { name: string };
  PLANE_UNKNOWN: { name: string; known: readonly string[]; near?: string | undefined };
  /** A key of another kind of control plane or destination, or of another way of signing. */
  KEY_OF_OTHER_KIND: { key: string; whose: "plane" | "signing" | "queue" | "destination"; kind: string; is: string };
  DESTINATION_TWICE: { name: string };
  NOT_A_MAIL_SERVER: { given: string };
  NOT_AN_ADDRESS: { given: string };
  NOT_A_HOST: { given: string; bare?: string | undefined };
  NOT_LISTENABLE: { given: string };
  TENANT_GLOB: { given: string; fault: "Open" | "NoRepository" };
}
