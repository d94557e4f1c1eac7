import { describe, expect, test } from "vitest";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { byName } from "../api/ask.ts";
import type { ArgoClient } from "../api/client.ts";
import { readByName } from "../kubernetes/ask.ts";
import type { KubeClient } from "../kubernetes/client.ts";
import { WireError } from "./http.ts";

const ITS_OWN = new WireError(404, { code: "PROGRAM_SAYS", message: 'applications.argoproj.io "eu-1" not found' });
const BETWEEN = [
  new WireError(404, { code: "PROGRAM_SAYS", message: "HTTP 404 from https://argocd" }),
  new WireError(404, { code: "PROGRAM_SAYS", message: "no Route matched with those values" }),
];
const application = { namespace: "argocd", name: "eu-1", spec: { project: "" } } as ApplicationView;

const argo = (error: WireError) =>
  byName({ get: () => Promise.reject(error) } as unknown as ArgoClient, application, { totalMs: 1, now: 0 });
async function kube(error: WireError) {
  const taken: unknown[] = [];
  const client = { read: () => Promise.reject(error) } as unknown as KubeClient;
  const { kind } = await readByName(client, { namespace: "argocd", name: "eu-1", now: 0 }, (view) => void taken.push(view));
  return { kind, taken };
}

describe("an Application is gone", () => {
  test("where the server says so itself", async () => {
    expect(await argo(ITS_OWN)).toBeUndefined();
    expect(await kube(ITS_OWN)).toEqual({ kind: "gone", taken: [undefined] });
  });

  test.each(BETWEEN)("and not where what stands in between does: %s", async (error) => {
    await expect(argo(error)).rejects.toThrow(error);
    expect(await kube(error)).toEqual({ kind: "failed", taken: [] });
  });
});
