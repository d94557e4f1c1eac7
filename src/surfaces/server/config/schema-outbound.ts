/** Fields of the server's configuration for what config repos may have asked of others: analyses and hooks. */
import { z } from "zod";
import { duration, key, text } from "../../../core/spec/schema-common.ts";

export const filled = text.min(1);

const outboundRule = z.union([
  filled,
  z.strictObject({
    host: key(filled, "As above."),
    repositories: key(z.array(filled).min(1).optional(), "Globs of `owner/name`: whose requests may go there. Default: everybody's."),
    networks: key(
      z.array(filled).min(1).optional(),
      "Networks (`10.0.0.0/8`) that the name may resolve into. Default: what is public; a name written out may be in the cluster, too.",
    ),
  }),
]);

const analysisSecretSchema = z.strictObject({
  name: key(filled, "Name of the Secret, as templates' `secretKeyRef` has it."),
  key: key(filled, "Key in it."),
  file: key(filled.optional(), "`builtin`: file that holds the value. Read again at each analysis."),
  env: key(filled.optional(), "`builtin`: or the variable of the environment that holds it."),
  repositories: key(z.array(filled).min(1).default(["*/*"]), "Globs of `owner/name`: whose templates may use it."),
  hosts: key(
    z.array(filled).max(50).default([]),
    "`builtin`: where it may be sent, as in `outbound.allow`. None: nowhere; in the arguments of a Job it may be used all the same.",
  ),
});

export const analysisSchema = z.strictObject({
  engine: key(
    z.enum(["builtin", "argo-rollouts"]).default("builtin"),
    "`builtin`: measures by itself (web, prometheus, job). `argo-rollouts`: makes AnalysisRuns where that controller runs.",
  ),
  outbound: key(
    z
      .strictObject({
        allow: key(
          z.array(outboundRule).max(200).default([]),
          "`builtin`: hosts that may be asked, with the port where it is not the scheme's own: `prometheus.example.com:9090`, `*.example.com`.",
        ),
      })
      .prefault({}),
    "Where measurements may go. Templates come from the config repos: this list is what keeps them from asking anything else.",
  ),
  secrets: key(z.array(analysisSecretSchema).max(100).default([]), "What `secretKeyRef` may name; nothing else may be."),
  jobs: key(
    z
      .strictObject({
        kubeconfig: key(filled.optional(), "File. Default: the pod's own service account, else `$KUBECONFIG`, else `~/.kube/config`."),
        context: key(filled.optional(), "Context of it. Default: its current one."),
        namespace: key(filled, "Namespace of its own: whoever may write templates may run any Pod there."),
        namespaces: key(
          z
            .array(
              z.strictObject({
                repositories: key(z.array(filled).min(1), "Globs of `owner/name`."),
                namespace: key(filled, "Where their Jobs are run, or their AnalysisRuns made."),
              }),
            )
            .max(200)
            .default([]),
          "Namespaces of their own for the Jobs (`builtin`) or AnalysisRuns of some repositories. The first that fits counts; else it is `namespace`.",
        ),
        timeout: key(duration.default("1h"), "`builtin`: a Job that has not ended by then is deleted, and counts as an error."),
      })
      .optional(),
    "The cluster where Jobs are run (`builtin`), or AnalysisRuns are made (`argo-rollouts`, which needs it).",
  ),
});

export const hooksSchema = z.strictObject({
  outbound: key(
    z
      .strictObject({
        allow: key(z.array(outboundRule).max(200).default([]), "Hosts that hooks may be at, as in `analysis.outbound.allow`."),
      })
      .prefault({}),
    "Where hooks may be.",
  ),
  secretFile: key(
    filled.optional(),
    "File with the secret that requests are signed with. `HOOK_SECRET_FILE`, or the secret itself in `HOOK_SECRET`.",
  ),
});
