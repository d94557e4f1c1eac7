import type { ServerProblems } from "../../../reasons/problems/server.ts";
import { problemsOf } from "./entry.ts";

/** The server's configuration. */
export const SERVER_PROBLEMS = problemsOf<ServerProblems>()({
  PLANE_NAME: {
    says: "{given} cannot be the name of a control plane",
    hint: "use lower-case letters, digits and -, at most 63 of them",
    means: "a control plane's name becomes part of the clusters' keys",
  },
  PLANE_LABEL: {
    says: "{given} is each cluster's own: a label of its control plane would take its place",
    hint: "give the label another name",
    means: "a label of a control plane is called `name` or `server`, which selectors take for the cluster's own",
    todo: "give it another name",
  },
  PLANE_TWICE: {
    says: 'two control planes are called "{name}"',
    hint: "give each a name of its own",
    means: "two of `controlPlanes` have one name",
  },
  PLANE_UNKNOWN: {
    says: 'there is no control plane "{name}"',
    hint: "[did you mean {near}?|name one of {known}]",
    means: "`tenancy` grants a control plane that is not configured",
  },
  KEY_OF_OTHER_KIND: {
    says: {
      whose: {
        plane: "{key} belongs to kind {kind}, and this control plane is of kind {is}",
        signing: "{key} belongs to signing: {kind}, and signing is {is}",
        queue: "{key} belongs to kind {kind}, and the queue is of kind {is}",
        destination: "{key} belongs to kind {kind}, and this destination is of kind {is}",
      },
    },
    hint: {
      whose: {
        plane: "remove {key}, or write kind: {kind}",
        signing: "remove {key}, or write signing: {kind}",
        queue: "remove {key}, or write kind: {kind}",
        destination: "remove {key}, or write kind: {kind}",
      },
    },
    means: "a key that this `kind`, or this `signing`, does not have",
  },
  DESTINATION_TWICE: {
    says: 'two destinations are called "{name}"',
    hint: "give each a name of its own",
    means: "two of `notifications.destinations` have one name",
  },
  NOT_A_MAIL_SERVER: {
    says: "{given} is no mail server",
    hint: "write smtp://mail.example.com:587, or smtps://mail.example.com:465",
    means: "`server` of a destination is not the address of a mail server",
  },
  NOT_AN_ADDRESS: {
    says: "{given} is not an address",
    hint: "write it whole: https://argocd.example.com",
    means: "Argo CD's `url` is not an address",
  },
  NOT_A_HOST: {
    says: "{given} is not the name of a host",
    hint: "write the name alone: [{bare}|github.example.com]",
    means: "`github.host` is not the name of a host",
  },
  NOT_LISTENABLE: {
    says: "{given} is not an address to listen at",
    hint: "write 0.0.0.0 for every address of this machine, 127.0.0.1 for itself alone",
    means: "nothing can listen there",
  },
  TENANT_GLOB: {
    says: { fault: { Open: '"{given}" is not a glob', NoRepository: '"{given}" can match no repository' } },
    hint: {
      fault: { Open: "close every [; * and ? stand for what is not known", NoRepository: "write owner/name: acme/payments-*, or */*" },
    },
    means: "a glob of `tenancy` or of a destination that matches nothing",
  },
});
