import { KubeConfig } from "@kubernetes/client-node";
import { type JobRunner, jobRunner } from "../../../adapters/analysis/builtin/jobs.ts";
import type { Clock } from "../../../core/base/time.ts";
import { CommandError } from "../command.ts";
import { visible } from "../visible.ts";

/** Where Jobs are run: nowhere, unless a namespace is given. */
export function jobsOf(
  { kubeconfig, context, namespace }: { kubeconfig?: string; context?: string; namespace?: string },
  clock: Clock,
): { jobs?: JobRunner } {
  if (namespace === undefined) {
    if (kubeconfig !== undefined || context !== undefined) throw new CommandError(2, "--kubeconfig and --context want --namespace");
    return {};
  }
  const kubeConfig = new KubeConfig();
  try {
    if (kubeconfig === undefined) kubeConfig.loadFromDefault();
    else kubeConfig.loadFromFile(kubeconfig);
    if (context !== undefined) kubeConfig.setCurrentContext(context);
  } catch (error) {
    throw new CommandError(2, visible(`the kubeconfig cannot be used: ${error instanceof Error ? error.message : String(error)}`));
  }
  return { jobs: jobRunner({ kubeConfig, namespace, clock }) };
}
