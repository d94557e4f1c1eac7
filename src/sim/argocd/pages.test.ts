import { expect, test } from "vitest";
import { testWorld } from "./testing/world.ts";

test("an Application has a page at its address, for whoever asks for it, and one that is not there says so as a page", async () => {
  const files = { "app/deployment.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\n" };
  const world = await testWorld(files, {
    render: () => ({ ok: true, applications: [], generators: [], problems: [] }),
    clusters: [{ name: "eu-1" }],
  });
  try {
    const syncPolicy = { automated: {} };
    const source = { repoURL: world.repo.url, path: "app", targetRevision: "main" };
    world.create("web-eu-1", { source, destination: { name: "eu-1", namespace: "<web>" }, syncPolicy });
    await world.until("it is healthy", () => world.app("web-eu-1").status?.health?.status === "Healthy");
    const { revision = "" } = world.app("web-eu-1").status?.sync ?? {};
    const ask = async (path: string, accept: string) => {
      const answer = await fetch(`${world.argo.url}${path}`, { headers: { accept } });
      return [answer.status, answer.headers.get("content-type"), await answer.text()] as const;
    };
    for (const accept of ["*/*", "text/html", "application/json"]) {
      const [status, type, body] = await ask("/applications/argocd/web-eu-1", accept);
      expect([status, type]).toEqual([200, "text/html; charset=utf-8"]);
      for (const text of ["<b>Healthy</b>", "<b>Synced</b>", revision, "<b>Deployment</b>", "&lt;web&gt;", 'quiet">Synced</span>'])
        expect(body).toContain(text);
      expect(body).not.toContain("<web>");
    }
    expect((await ask("/applications", "*/*"))[2]).toContain('href="/applications/argocd/web-eu-1"');
    expect(await ask("/applications/argocd/gone", "*/*")).toEqual([
      404,
      "text/html; charset=utf-8",
      expect.stringContaining("no such Application"),
    ]);
    expect((await ask("/elsewhere", "*/*")).slice(0, 2)).toEqual([404, "application/json"]);
  } finally {
    await world.close();
  }
});
