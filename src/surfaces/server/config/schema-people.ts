/** Fields of the server's configuration for who may see the page. */
import { z } from "zod";
import { duration, key } from "../../../core/spec/schema-common.ts";
import { filled } from "./schema-outbound.ts";

const header = z.string().regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/);

export const loginSchema = z.strictObject({
  lasts: key(duration.default("24h"), "How long a session lasts, at most 30 days. GitHub's tokens are made anew meanwhile."),
  keyFile: key(
    filled.optional(),
    "File with the secret that sessions are sealed with, of 32 characters or more. `SESSION_KEY_FILE`, or the secret itself in `SESSION_KEY`. Default: derived from the App's private key.",
  ),
  acceptedKeyFiles: key(
    z.array(filled).max(20).default([]),
    "Files with secrets, or private keys of the App (PEM), whose sessions hold, too: those of before, while keys change.",
  ),
});

export const proxySchema = z.strictObject({
  header: key(header.default("X-Forwarded-User"), "Holds the person's name. The proxy has to take it from what people send."),
  secretHeader: key(header.default("X-Stagecoach-Proxy"), "Holds the secret."),
  secretFile: key(
    filled,
    "File with the secret that the proxy adds to each request, of 32 characters or more: without it nobody counts as the proxy.",
  ),
  from: key(
    z
      .array(z.union([z.cidrv4(), z.cidrv6()]))
      .min(1)
      .max(50)
      .optional(),
    "Networks that the proxy's connections come from. Default: any.",
  ),
  repositories: key(z.array(filled).min(1).max(200), "Globs of `owner/name` that its people see: `acme/*`."),
});
