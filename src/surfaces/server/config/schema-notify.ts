/** Fields of the server's configuration for notifications: which destinations there are, and who may use them. */
import { z } from "zod";
import { key } from "../../../core/spec/schema-common.ts";
import { filled } from "./schema-outbound.ts";

const KINDS = ["slack", "slack-webhook", "teams", "webhook", "email"] as const;

const destinationSchema = z.strictObject({
  name: key(filled, "How `notifications` of `.github/stagecoach.yaml` calls it in `to`."),
  kind: key(
    z.enum(KINDS),
    "`slack`: a bot's token, one message a run. `slack-webhook`: an incoming webhook. `teams`: the webhook of a Workflow. `webhook`: CloudEvents. `email`: by SMTP.",
  ),
  repositories: key(z.array(filled).min(1).default(["*/*"]), "Globs of `owner/name`, in any case: whose notifications may go there."),
  secretFile: key(
    filled.optional(),
    "File with the secret, read at each message: `slack`: the bot's token; `slack-webhook` and `teams`: the webhook's address; `webhook`: what is signed with; `email`: the password.",
  ),
  secretEnv: key(filled.optional(), "Or the variable of the environment that holds it."),
  channel: key(filled.optional(), "`slack`: id of the channel: `C0123456789`."),
  url: key(filled.optional(), "`webhook`: where events go. `slack`: Slack's API, default `https://slack.com/api/`."),
  mode: key(z.enum(["structured", "binary"]).optional(), "`webhook`: how an event is sent. Default: structured."),
  server: key(
    filled.optional(),
    "`email`: `smtp://mail.example.com:587` (STARTTLS, or nothing is sent), `smtps://mail.example.com:465`, or `smtp+plain://relay:25`, to which no password goes.",
  ),
  user: key(filled.optional(), "`email`: who logs in. Default: nobody."),
  from: key(filled.optional(), "`email`: sender."),
  to: key(z.array(filled).min(1).max(50).optional(), "`email`: addresses."),
  networks: key(
    z.array(filled).min(1).max(50).optional(),
    "Networks (`10.0.0.0/8`) that its host may resolve into. Default: what is public; a host in the cluster, too.",
  ),
});

export const notificationsConfigSchema = z.strictObject({
  destinations: key(z.array(destinationSchema).max(200).default([]), "Where notifications may go. None: none are sent."),
});

export type DestinationConfig = z.output<typeof destinationSchema>;

type Key = Exclude<keyof DestinationConfig, "name" | "kind" | "repositories" | "networks">;

/** Which keys a kind must have, and which it may; `secret`: one of the two that say where it is. */
export const KEYS_OF_KIND: Readonly<Record<DestinationConfig["kind"], { must: readonly (Key | "secret")[]; may: readonly Key[] }>> = {
  slack: { must: ["secret", "channel"], may: ["url"] },
  "slack-webhook": { must: ["secret"], may: [] },
  teams: { must: ["secret"], may: [] },
  webhook: { must: ["secret", "url"], may: ["mode"] },
  email: { must: ["server", "from", "to"], may: ["user", "secretFile", "secretEnv"] },
};
