import { describe, expect, test } from "vitest";
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { application } from "../../../adapters/argocd/testing/application.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { clustersOf } from "../../../engine/resolve/fleet.ts";
import { limitsOf } from "../../../engine/round/observe/grants.ts";
import { isHome } from "./installed-repos.ts";
import { grantedPlane, type TenancyRule, tenancy } from "./tenancy.ts";

const of = (name: string, project: string, server: string): ApplicationView =>
  application({
    metadata: { name, ownerReferences: [{ kind: "ApplicationSet", name: `set-of-${project}`, uid: "u" }] },
    spec: { project, destination: { server, namespace: "x" } },
  });

const ours = of("payments-eu-1", "payments", "https://eu-1.example.com");
const theirs = of("ledger-eu-2", "ledger", "https://eu-2.example.com");

/** A plane with one Application of two teams each; what is asked of it stands in `asked`. */
function plane(name: string): ControlPlane & { asked: string[]; tell(changed: ReadonlySet<string> | null): void } {
  const all = [ours, theirs];
  const listeners = new Set<(changed: ReadonlySet<string> | null) => void>();
  const asked: string[] = [];
  const set = (project: string, shown = project) => ({
    namespace: "argocd",
    name: `set-of-${project}`,
    uid: "u",
    resourceVersion: "1",
    spec: { template: { spec: { project: shown } } },
    conditions: [],
  });
  const sets = [set("payments"), set("ledger"), set("templated", "{{ .project }}")];
  const connection = { status: "Failed" as const, message: "timeout" };
  return {
    name,
    asked,
    tell: (changed) => {
      for (const listener of listeners) listener(changed);
    },
    ready: async () => undefined,
    state: () => ({ fresh: true, since: "2026-11-21T10:00:00.000Z" }),
    application: (namespace, wanted) => all.find((view) => view.namespace === namespace && view.name === wanted),
    applications: (owner) => all.filter((view) => owner === undefined || view.owner?.name === owner.name),
    applicationSet: (_namespace, wanted) => sets.find((one) => one.name === wanted),
    clusters: () =>
      ["eu-1", "eu-2"].map((cluster) => ({
        name: cluster,
        server: `https://${cluster}.example.com`,
        labels: {},
        registered: true,
        connection,
      })),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async reread(_namespace, wanted) {
      asked.push(`reread ${wanted}`);
      return { kind: "read" };
    },
    async refresh(_namespace, wanted) {
      asked.push(`refresh ${wanted}`);
      return "asked";
    },
    rollouts: async () => [],
    syncWindows: async () => ({ open: true, windows: [] }),
    runAction: async (target) => {
      asked.push(`action on ${target.name}`);
      return { kind: "done" };
    },
    manifests: async () => ({ kind: "done", objects: [] }),
    generate: async () => ({ kind: "done", applications: [] }),
    close: async () => void asked.push("close"),
  };
}

describe("what one tenant sees of a control plane", () => {
  const whole = plane("hub");
  const seen = grantedPlane(whole, (project) => project === "payments");

  test("Applications of other projects are not there", () => {
    expect(seen.applications()).toEqual([ours]);
    expect(seen.applications({ namespace: "argocd", name: "set-of-ledger" })).toEqual([]);
    expect(seen.application("argocd", "payments-eu-1")).toBe(ours);
    expect(seen.application("argocd", "ledger-eu-2")).toBeUndefined();
  });

  test("nor are the ApplicationSets that make them; a templated project is judged by what came of it", () => {
    const names = ["payments", "ledger", "templated"].filter((name) => seen.applicationSet("argocd", `set-of-${name}`) !== undefined);
    expect(names).toEqual(["payments", "templated"]);
    const owned = { ...whole, applications: () => [theirs] };
    expect(grantedPlane(owned, (project) => project === "payments").applicationSet("argocd", "set-of-templated")).toBeUndefined();
  });

  test("of a cluster where nothing of its own runs it is not said whether it can be reached", () => {
    expect(seen.clusters().map((cluster) => [cluster.name, cluster.connection?.status])).toEqual([
      ["eu-1", "Failed"],
      ["eu-2", undefined],
    ]);
  });

  test("changes of others are not told, those of all are", () => {
    const told: (string[] | null)[] = [];
    const off = seen.onChange((changed) => told.push(changed === null ? null : [...changed]));
    whole.tell(new Set(["argocd/ledger-eu-2"]));
    whole.tell(new Set(["argocd/ledger-eu-2", "argocd/payments-eu-1"]));
    whole.tell(null);
    off();
    expect(told).toEqual([["argocd/payments-eu-1"], null]);
  });

  test("nothing is asked of Argo CD about an Application of others", async () => {
    const rollout = { namespace: "x", name: "x" };
    expect(await seen.refresh?.("argocd", "ledger-eu-2")).toBe("unavailable");
    expect(await seen.rollouts?.("argocd", "ledger-eu-2")).toBe("unavailable");
    expect(await seen.syncWindows?.("argocd", "ledger-eu-2")).toBeUndefined();
    expect(await seen.runAction?.({ namespace: "argocd", name: "ledger-eu-2" }, rollout, "abort")).toMatchObject({ kind: "forbidden" });
    expect(await seen.manifests?.("argocd", "ledger-eu-2", ["main"])).toMatchObject({ kind: "forbidden" });
    expect(await seen.manifests?.("argocd", "payments-eu-1", ["main"])).toMatchObject({ kind: "done" });
    expect(await seen.generate?.({ spec: { template: { spec: { project: "ledger" } } } })).toMatchObject({ kind: "forbidden" });
    expect(whole.asked).toEqual([]);
    expect(await seen.refresh?.("argocd", "payments-eu-1")).toBe("asked");
    expect(await seen.runAction?.({ namespace: "argocd", name: "payments-eu-1" }, rollout, "resume")).toEqual({ kind: "done" });
    expect(await seen.generate?.({ spec: { template: { spec: { project: "payments" } } } })).toMatchObject({ kind: "done" });
    await seen.close();
    expect(whole.asked).toEqual(["refresh payments-eu-1", "action on payments-eu-1"]);
  });
});

describe("who may use what", () => {
  const planes = [plane("hub-eu"), plane("hub-us")];
  const rules: TenancyRule[] = [
    { repositories: ["acme/payments*"], controlPlanes: [{ name: "hub-eu", projects: ["payments", "pay-*"] }] },
    { repositories: ["acme/payments-config"], controlPlanes: [{ name: "hub-us", projects: ["*"] }] },
  ];
  const rights = tenancy(rules, planes);

  test("without rules everybody may use everything, as long as the App is installed for one account; then only its own", () => {
    const { planes: all, grants } = tenancy(undefined, planes)("any/one");
    expect([[...all.keys()], grants]).toEqual([["hub-eu", "hub-us"], undefined]);
    const stranger = tenancy(undefined, planes)("any/one", false);
    expect([...stranger.planes.keys()]).toEqual([]);
    expect(stranger.grants?.refusal("hub-eu")?.code).toBe("CONTROL_PLANE_NOT_GRANTED");
    const found = { repos: [], suspended: new Set<number>(), unseen: new Set<number>() };
    const home = (owners: string[], appOwner?: string) =>
      isHome({ fullName: "Acme/fleet" }, { ...found, owners: new Set(owners), appOwner });
    expect([home(["acme"]), home(["acme", "eve"]), home(["acme", "eve"], "acme"), home(["acme", "eve"], "eve")]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  test("with rules a repo has what those that match it grant together, in any case of its name", () => {
    expect([...rights("acme/payments").planes.keys()]).toEqual(["hub-eu"]);
    expect([...rights("Acme/Payments-Config").planes.keys()]).toEqual(["hub-eu", "hub-us"]);
    expect(rights("acme/payments").planes.get("hub-eu")?.applications()).toEqual([ours]);
    expect(rights("acme/payments-config").planes.get("hub-us")?.applications()).toEqual([ours, theirs]);
  });

  test("one that no rule matches has nothing; a glob stops at the slash", () => {
    expect([...rights("acme/ledger").planes.keys()]).toEqual([]);
    expect([...rights("evil/acme/payments").planes.keys()]).toEqual([]);
  });

  test("naming a control plane that is not granted gives the same words whether there is one or not", () => {
    const { planes: own, grants } = rights("acme/payments");
    const context = { planes: own, ...(grants === undefined ? {} : { grants }) };
    const why = (name: string) => clustersOf(context, [name]);
    expect(why("hub-us")).toMatchObject({
      known: false,
      why: [{ code: "NOT_GRANTED", because: { code: "CONTROL_PLANE_NOT_GRANTED", granted: ["hub-eu"], asked: "hub-us" } }],
    });
    expect(JSON.stringify(why("nowhere").why).replaceAll("nowhere", "hub-us")).toBe(JSON.stringify(why("hub-us").why));
    expect(why("hub-eu").known).toBe(true);
  });

  test("where nothing is found, the people are told what is kept from them", () => {
    expect(limitsOf(rights("acme/payments").grants, ["hub-eu"])).toEqual({
      code: "PROJECT_NOT_GRANTED",
      controlPlane: "hub-eu",
      projects: ["payments", "pay-*"],
    });
    expect(limitsOf(rights("acme/payments-config").grants, ["hub-us"])).toBeUndefined();
    expect(limitsOf(rights("acme/ledger").grants, [])).toEqual({ code: "CONTROL_PLANE_NOT_GRANTED", granted: [] });
    expect(limitsOf(undefined, ["hub-eu"])).toBeUndefined();
  });
});
