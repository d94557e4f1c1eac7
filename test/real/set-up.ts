/** What a try makes in Kubernetes, and its removal. */
import type { KubernetesObject } from "@kubernetes/client-node";
import { type RealNames, setName } from "./files.ts";
import type { Kube } from "./kube.ts";
import { until } from "./looks.ts";
import { applicationObject, clusterSecret, LEFTOVERS, namespaceWithRights } from "./objects.ts";

export async function setUp(
  api: Kube,
  names: RealNames,
  objects: readonly KubernetesObject[],
  made: KubernetesObject[],
  patience: number,
): Promise<void> {
  const create = async (object: KubernetesObject) => {
    made.push(object);
    await api.create(object);
  };
  for (const [index, namespace] of names.clusters.entries()) {
    const own = namespaceWithRights(names, namespace);
    for (const object of own) await create(object);
    const secret = own.at(-1) ?? {};
    const data = await until(`a token of ${namespace}`, patience, async () => {
      const found = (await api.read(secret))?.["data"] as Record<string, string> | undefined;
      return found?.["token"] === undefined ? undefined : found;
    });
    const ca = data["ca.crt"];
    const token = Buffer.from(data["token"] ?? "", "base64").toString();
    await create(clusterSecret(names, index, { token, ...(ca === undefined ? {} : { ca }) }));
  }
  for (const object of objects) await create(object);
}

/** Once it is there a person presses *Sync*. */
export async function syncByHand(api: Kube, names: RealNames, cluster: string, patience: number): Promise<void> {
  const object = applicationObject(names, cluster);
  await until("the Application that is synced by hand is there", patience, () => api.read(object));
  await api.sync(object);
}

/** Removes what was made, what brings others first; gives what is still there at the end. */
export async function cleanUp(api: Kube, names: RealNames, made: readonly KubernetesObject[], patience: number): Promise<string[]> {
  const applications = names.clusters.map((cluster) => applicationObject(names, cluster));
  const gone = async (objects: readonly KubernetesObject[]) => {
    for (const object of objects) if ((await api.read(object)) !== undefined) return undefined;
    return true;
  };
  for (const object of LEFTOVERS(names)) await api.remove(object);
  await until("the Applications are gone", patience, () => gone(applications));
  const rest = made.filter(({ kind }) => kind !== "Application").reverse();
  for (const object of rest) await api.remove(object);
  await until(`what carries ${setName(names)} is gone`, patience, () => gone(rest));
  const left: string[] = [];
  for (const object of [...applications, ...rest]) {
    if ((await api.read(object)) !== undefined) left.push(`${object.kind} ${object.metadata?.name}`);
  }
  return left;
}
