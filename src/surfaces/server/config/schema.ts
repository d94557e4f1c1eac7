/** The server's configuration, field by field; `npm run generate` makes the reference and the JSON schema from it. */
import { z } from "zod";
import { show } from "../../../core/base/problem.ts";
import { packReason } from "../../../core/reasons/problems/problem.ts";
import { duration, freezeSchema, key, labelText } from "../../../core/spec/schema-common.ts";
import { notificationsConfigSchema } from "./schema-notify.ts";
import { analysisSchema, filled, hooksSchema } from "./schema-outbound.ts";
import { loginSchema, proxySchema } from "./schema-people.ts";

const port = z.int().min(0).max(65_535);
const HTTPS = z.url({ protocol: /^https?$/, error: ({ input }) => packReason({ code: "NOT_AN_ADDRESS", given: show(input) }) });
/** As a DNS label, so that `controlPlane/cluster` can be taken apart. */
const planeName = z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, {
  error: ({ input }) => packReason({ code: "PLANE_NAME", given: show(input) }),
});

const controlPlaneSchema = z.strictObject({
  name: key(planeName, "How rollouts call it in `sourceRef.controlPlane`."),
  labels: key(
    z.record(z.string(), labelText).default({}),
    "Every cluster of it has these labels, where it has none of that key itself: stages and pins see them, generators do not.",
  ),
  kind: key(
    z.enum(["kubernetes", "api"]).default("kubernetes"),
    "`kubernetes`: its objects are watched through the API of the cluster it runs in. `api`: it is asked through its own REST API.",
  ),
  kubeconfig: key(
    filled.optional(),
    "`kubernetes`: file. Default: the pod's own service account, else `$KUBECONFIG`, else `~/.kube/config`.",
  ),
  context: key(filled.optional(), "`kubernetes`: context of the kubeconfig. Default: its current one."),
  namespaces: key(
    z.array(filled).min(1).optional(),
    "Where Applications and ApplicationSets are looked for. Default: everywhere, which needs a ClusterRole.",
  ),
  selector: key(filled.optional(), "Label selector of the Applications that are looked at, as `kubectl -l` takes it. Default: all."),
  argocdNamespace: key(filled.default("argocd"), "`kubernetes`: where Argo CD itself is, and so its cluster Secrets and AppProjects."),
  clusterSecrets: key(
    z.boolean().default(false),
    "`kubernetes`: cluster Secrets may be read, for the clusters' names, labels and annotations. Without, clusters are what destinations and labels of Applications say of them.",
  ),
  allowRefresh: key(
    z.boolean().default(false),
    "`kubernetes`: Argo CD may be asked to look again, by annotations, which needs `patch` on Applications, and on ApplicationSets with git generators. By its API it always may, of Applications: `get` is enough.",
  ),
  url: key(HTTPS.optional(), "`api`: address of Argo CD."),
  uiUrl: key(
    HTTPS.optional(),
    "Where people see it in a browser: what hands a run over to them links to its Applications there. Default with `api`: `url`; else there are no links.",
  ),
  tokenFile: key(filled.optional(), "`api`: file with the token of an account of Argo CD. Read again when it changes."),
  projects: key(z.array(filled).min(1).optional(), "`api`: Argo CD projects that are looked at. Default: all that the account may see."),
  caFile: key(filled.optional(), "`api`: file with the certificates (PEM) that Argo CD's own is checked against. Default: the system's."),
  allowRolloutActions: key(
    z.boolean().default(false),
    "`api`: `/resume --rollouts` and the like may run resource actions on Argo Rollouts. Needs that right for the token's account.",
  ),
  allowSync: key(
    z.boolean().default(false),
    "`api`: stages with `sync: Request` may ask for syncs. Needs that right for the token's account.",
  ),
  allowGenerate: key(
    z.boolean().default(false),
    "`api`: Argo CD may be asked what an ApplicationSet would generate, where that cannot be worked out offline. It wants the right to create ApplicationSets for that, which is not used otherwise.",
  ),
});

const tenantSchema = z.strictObject({
  repositories: key(z.array(filled).min(1), "Globs of `owner/name`, in any case: `acme/payments-*`. `*` stops at `/`."),
  controlPlanes: key(
    z
      .array(
        z.strictObject({
          name: key(filled, "Of a control plane above."),
          projects: key(z.array(filled).min(1).default(["*"]), "Globs of the Argo CD projects whose Applications may be seen."),
        }),
      )
      .min(1),
    "What they may use.",
  ),
});

/** The server's own configuration: what its operator decides. Secrets stand in files or in the environment, never here. */
export const serverConfigSchema = z.strictObject({
  github: key(
    z
      .strictObject({
        host: key(filled.optional(), "Of GitHub Enterprise Server: `github.example.com`. Default: github.com. `GHE_HOST`."),
        protocol: key(z.enum(["https", "http"]).default("https"), "Of that host. `GHE_PROTOCOL`."),
        appId: key(z.int().min(1).optional(), "The App's id. `APP_ID`."),
        privateKeyFile: key(
          filled.optional(),
          "File with the App's private key (PEM). `PRIVATE_KEY_FILE`, `PRIVATE_KEY_PATH`, or the key itself in `PRIVATE_KEY`.",
        ),
        webhookSecretFile: key(
          filled.optional(),
          "File with the webhook's secret. `WEBHOOK_SECRET_FILE`, or the secret itself in `WEBHOOK_SECRET`.",
        ),
        clientId: key(
          z
            .string()
            .regex(/^[\w.-]{1,100}$/)
            .optional(),
          "The App's client id, for `inside.login`. `GITHUB_CLIENT_ID`.",
        ),
        clientSecretFile: key(
          filled.optional(),
          "File with a client secret of the App's, for `inside.login`. `GITHUB_CLIENT_SECRET_FILE`, or the secret itself in `GITHUB_CLIENT_SECRET`.",
        ),
        formerWebhookSecretFile: key(
          filled.optional(),
          "File with the secret of before, taken as well while it is changed. `FORMER_WEBHOOK_SECRET_FILE`, or the secret itself in `FORMER_WEBHOOK_SECRET`.",
        ),
      })
      .prefault({}),
    "The App.",
  ),
  controlPlanes: key(
    z
      .array(controlPlaneSchema)
      .min(1)
      .default([controlPlaneSchema.parse({ name: "argocd" })]),
    "The Argo CD instances. Default: one, `argocd`, of the cluster the bot runs in or the kubeconfig at hand.",
  ),
  tenancy: key(
    z.array(tenantSchema).min(1).optional(),
    "Which repository may use what. Absent: every repository may use everything while the App is installed for one account; for several, only those of its own owner. Present: what no rule grants is not there for a repository.",
  ),
  commits: key(
    z
      .strictObject({
        signing: key(
          z.enum(["github", "ssh", "none"]).default("github"),
          "`github`: GitHub makes and signs them for the App, so they are Verified. `ssh`: made here and signed with a key. `none`: not signed. Whose a commit of the journal is, its seal says, whatever signs it.",
        ),
        sshKeyFile: key(filled.optional(), "`ssh`: file with an OpenSSH private key (Ed25519 or RSA) without a passphrase."),
      })
      .prefault({}),
    "The commits of batches and of the journal.",
  ),
  journal: key(
    z
      .strictObject({
        sealKeyFile: key(
          filled.optional(),
          "File with the secret that the journal's commits are sealed with, of 32 characters or more. `SEAL_KEY_FILE`, or the secret itself in `SEAL_KEY`. Default: derived from the App's private key.",
        ),
        acceptedKeyFiles: key(
          z.array(filled).max(20).default([]),
          "Files with secrets, or private keys of the App (PEM), whose seals hold, too: those of before, while keys change.",
        ),
      })
      .prefault({}),
    "Which commits on the journal's branch are ours.",
  ),
  freezes: key(z.array(freezeSchema).max(50).default([]), "Windows that bind every run of every repository, beside the repository's own."),
  allowUnprotected: key(
    z.union([z.boolean(), z.array(filled).min(1).max(200)]).default(false),
    "Rollouts with `mode: Run` merge by themselves though no ruleset keeps others from the journal's branch and from those of batches. `true`: everywhere; globs of `owner/name`: in those repositories. Whoever has write there can stop runs, and take the bot's pull requests over.",
  ),
  analysis: key(analysisSchema.prefault({}), "How `analysis` of rollouts is run."),
  hooks: key(hooksSchema.prefault({}), "What `hooks` of rollouts may do."),
  notifications: key(notificationsConfigSchema.prefault({}), "Where `notifications` of config repos may go."),
  listen: key(
    z.strictObject({ host: key(filled.default("0.0.0.0"), "`HOST`."), port: key(port.default(3000), "`PORT`.") }).prefault({}),
    "Where GitHub's deliveries come in; `/healthz` and `/readyz` are there, too.",
  ),
  inside: key(
    z
      .strictObject({
        host: key(filled.default("127.0.0.1"), "`INSIDE_HOST`."),
        port: key(port.default(3001), "`INSIDE_PORT`."),
        hosts: key(
          z.array(filled).max(50).default([]),
          "Names that people reach it by, beside `localhost` and addresses. Asked for by another, it does not answer.",
        ),
        anonymous: key(
          z.enum(["Nobody", "Loopback", "Everywhere"]).optional(),
          "Who sees everything without saying who they are: `Loopback`: whoever is on this machine, as `kubectl port-forward` is. `Everywhere`: whoever gets here. Default: `Loopback`; with `login` or `proxy`, `Nobody`.",
        ),
        login: key(loginSchema.optional(), "People sign in by GitHub, and see what it shows them. Absent: nobody does."),
        proxy: key(proxySchema.optional(), "People whom a proxy of yours knows, for those without GitHub. They only read."),
        publicUrl: key(
          HTTPS.optional(),
          "Where people reach the page: `https://deploy.example.com/stagecoach/`. Comments and checks link to it, and its name is one of `hosts`.",
        ),
      })
      .prefault({}),
    "Where the page, the API and `/metrics` are.",
  ),
  metrics: key(
    z
      .strictObject({
        names: key(
          z.enum(["Rollouts", "Repositories", "None"]).default("Rollouts"),
          "Whose names stand in labels of `/metrics`, for whoever may read it. `Repositories`: not those of rollouts. `None`: neither.",
        ),
        most: key(
          z.int().min(0).max(10_000).default(500),
          "How many rollouts, and how many repositories, have series of their own. What is past it is counted together, as `other`.",
        ),
      })
      .prefault({}),
    "What `/metrics` tells.",
  ),
  queue: key(
    z
      .strictObject({
        kind: key(
          z.enum(["embedded", "postgres"]).default("embedded"),
          "`embedded`: this process looks after every repository, and nothing is to be installed. `postgres`: several replicas share them.",
        ),
        urlFile: key(
          filled.optional(),
          "`postgres`: file with the address, `postgresql://user:password@host:5432/database?sslmode=verify-full`. `DATABASE_URL_FILE`, or the address itself in `DATABASE_URL`.",
        ),
      })
      .prefault({}),
    "Who looks after which repository, and when.",
  ),
  directory: key(filled.default("mirrors"), "Where mirrors of the config repos are kept: a cache. `STAGECOACH_DIRECTORY`."),
  quota: key(
    z
      .strictObject({
        repository: key(
          z.int().min(1).default(4096),
          "Of the whole: heads of pull requests are not fetched beyond it. The base and the branches of runs always are.",
        ),
        mirrors: key(z.int().min(1).default(8192), "Of all together: those not used for the longest go, until they are needed."),
        fork: key(z.int().min(1).default(32), "Of the head of one pull request from a fork; its files of more than 1 MiB are left out."),
      })
      .prefault({}),
    "How many MiB mirrors may hold.",
  ),
  resync: key(duration.default("5m"), "Everything is looked at this often, though no webhook told of a change. `STAGECOACH_RESYNC`."),
  drain: key(duration.default("25s"), "On SIGTERM rounds under way are finished for at most this long. `STAGECOACH_DRAIN`."),
  log: key(
    z
      .strictObject({
        level: key(z.enum(["debug", "info", "warn", "error", "silent"]).default("info"), "`LOG_LEVEL`."),
        format: key(z.enum(["json", "pretty"]).default("json"), "`pretty`: for people, one line an entry. `LOG_FORMAT`."),
      })
      .prefault({}),
    "What is logged, on standard output.",
  ),
});

export type ServerConfig = z.output<typeof serverConfigSchema>;
export type ControlPlaneConfig = ServerConfig["controlPlanes"][number];
