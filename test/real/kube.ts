import { type KubeConfig, type KubernetesObject, KubernetesObjectApi, PatchStrategy } from "@kubernetes/client-node";

export interface Kube {
  create(object: KubernetesObject): Promise<void>;
  /** undefined: there is none. */
  read(object: KubernetesObject): Promise<Record<string, unknown> | undefined>;
  /** What is not there is removed already. */
  remove(object: KubernetesObject): Promise<void>;
  annotate(object: KubernetesObject, annotations: Record<string, string>): Promise<void>;
  /** Asks Argo CD to sync an Application, as a person does who presses *Sync*. */
  sync(object: KubernetesObject): Promise<void>;
}

const isMissing = (error: unknown) => (error as { code?: number }).code === 404;

export function kube(config: KubeConfig): Kube {
  const api = KubernetesObjectApi.makeApiClient(config);
  type Header = Parameters<typeof api.read>[0];
  const merge = async (patch: KubernetesObject) => {
    await api.patch(patch, undefined, undefined, undefined, undefined, PatchStrategy.MergePatch);
  };
  return {
    async create(object) {
      await api.create(object);
    },
    async read(object) {
      try {
        return (await api.read(object as Header)) as unknown as Record<string, unknown>;
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    async remove(object) {
      try {
        await api.delete(object);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
    annotate: ({ metadata, ...object }, annotations) => merge({ ...object, metadata: { ...metadata, annotations } } as KubernetesObject),
    sync: (object) => merge({ ...object, operation: { initiatedBy: { username: "a person" }, sync: {} } } as KubernetesObject),
  };
}
