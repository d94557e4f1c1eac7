/** What `run-schema.ts` wants of what started a run, and of what its release named. */
import { z } from "zod";

export const time = z.string().refine((text) => !Number.isNaN(Date.parse(text)), "is no time");
export const count = z.number().int().min(0);
const logins = z.array(z.string()).optional();
export const resolved = z.looseObject({
  repoURL: z.string(),
  revision: z.string(),
  commit: z.string(),
  at: time,
  cluster: z.string().optional(),
});
export const trigger = z.looseObject({
  ...{ commit: z.string(), pull: count.optional(), author: z.string(), at: time, openedAt: time.optional() },
  refusedAt: time.optional(),
  ...{ accounts: logins, merger: z.string().optional(), unlinked: logins, reviewers: logins },
});
