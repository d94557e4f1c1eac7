import { BatchV1Api, type KubeConfig, type V1Job } from "@kubernetes/client-node";
import type { z } from "zod";
import type { jobSchema } from "../../../core/analysis/template-schema.ts";
import type { Clock } from "../../../core/base/time.ts";
import { checkReason } from "../../../core/reasons/checks.ts";
import { codeOf, type Namespaces, namespaceFor, objectName } from "../kubernetes.ts";
import type { Measured } from "./provider.ts";

/** Runs a Job to its end. */
export interface JobRunner {
  /** `id` names the measurement: the same one is the same Job, however often it is asked for. */
  run(id: string, job: z.output<typeof jobSchema>): Promise<Measured>;
}

interface JobOptions extends Namespaces {
  kubeConfig: KubeConfig;
  clock: Clock;
  /** A Job that is not over by then is deleted, and the measurement is an error. Default 1 h. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 3_600_000;
const POLL_MS = 2000;
/** Finished Jobs are removed by the cluster after this long. */
const KEPT_S = 3600;
const LABEL = "stagecoach.dev/analysis";

export function jobRunner(options: JobOptions): JobRunner {
  const { clock } = options;
  const api = options.kubeConfig.makeApiClient(BatchV1Api);

  async function find(namespace: string, name: string): Promise<V1Job | undefined> {
    try {
      return await api.readNamespacedJob({ name, namespace });
    } catch (error) {
      if (codeOf(error) === 404) return undefined;
      throw error;
    }
  }

  async function make(namespace: string, name: string, id: string, job: z.output<typeof jobSchema>): Promise<void> {
    const [labels, annotations] = [texts(job.metadata?.["labels"]), texts(job.metadata?.["annotations"])];
    const body = {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name, namespace, labels: { ...labels, [LABEL]: "true" }, annotations: { ...annotations, [LABEL]: id } },
      spec: { ttlSecondsAfterFinished: KEPT_S, ...job.spec },
    } as unknown as V1Job;
    try {
      await api.createNamespacedJob({ namespace, body });
    } catch (error) {
      // Ours, from a try before a crash: the name is made of the measurement.
      if (codeOf(error) !== 409) throw error;
    }
  }

  return {
    async run(id, job) {
      const namespace = namespaceFor(options, id);
      const name = objectName(id);
      const until = clock.now() + (options.timeoutMs ?? TIMEOUT_MS);
      try {
        if ((await find(namespace, name)) === undefined) await make(namespace, name, id, job);
        for (;;) {
          const found = await find(namespace, name);
          if (found === undefined) return { error: checkReason("MEASURE_JOB_DELETED", { job: name }) };
          const over = outcomeOf(found);
          if (over !== undefined) return over;
          if (clock.now() >= until) {
            await api.deleteNamespacedJob({ name, namespace, propagationPolicy: "Background" });
            return { error: checkReason("MEASURE_JOB_LATE", { job: name }) };
          }
          await new Promise<void>((resolve) => void clock.after(POLL_MS, resolve));
        }
      } catch (error) {
        return {
          error: checkReason("MEASURE_JOB", {
            job: name,
            said: `${codeOf(error) ?? ""} ${error instanceof Error ? error.message.slice(0, 200) : ""}`.trim(),
          }),
        };
      }
    },
  };
}

function texts(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === "string"));
}

/** A Job is over when the condition Complete or Failed is true. */
function outcomeOf(job: V1Job): Measured | undefined {
  const over = (job.status?.conditions ?? []).find(({ type, status }) => status === "True" && (type === "Complete" || type === "Failed"));
  if (over === undefined) return undefined;
  const message = over.message ?? (over.type === "Complete" ? "the Job completed" : "the Job failed");
  return { outcome: over.type === "Complete" ? "Successful" : "Failed", message };
}
