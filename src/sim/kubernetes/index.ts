import { randomBytes } from "node:crypto";
import { defined } from "../../core/base/defined.ts";
import type { Clock } from "../../core/base/time.ts";
import { listen } from "../listen.ts";
import type { Account, Rule, Verb } from "./auth.ts";
import { createAuthority } from "./certificates.ts";
import { createLister } from "./list.ts";
import { createApiServer } from "./server.ts";
import { Store } from "./store.ts";
import type { KubeObject, Resource } from "./types.ts";
import { createWatchHub } from "./watch.ts";

/*
 * An embedded Kubernetes API for Argo CD's and Argo Rollouts' kinds, Jobs (nobody runs them), Secrets, ConfigMaps and Namespaces, over real HTTP.
 * ../README.md says what it does and does not do.
 */

interface KubernetesOptions {
  clock: Clock;
  /** 0 (default): any free one. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** Of the account that may do everything; default: a random one. */
  token?: string;
  /** Events a resource keeps for watches that come back. */
  keepEvents?: number;
  /** Serves TLS, with a certificate of its own CA, which the kubeconfig then holds. */
  tls?: boolean;
}

export interface KubernetesSim {
  url: string;
  token: string;
  /** PEM of the CA, where it serves TLS. */
  ca: string | undefined;
  store: Store;
  /** Text of a kubeconfig for the account that may do everything, or for another token, or with another CA. */
  kubeconfig(token?: string, ca?: string): string;
  /** Adds an account that may do only what the rules say; returns its token. */
  addAccount(user: string, rules: Rule[], token?: string): string;
  faults: {
    /** Cuts every open watch. */
    dropWatches(): void;
    /** Watches stay open and say nothing while it is on; what they missed is lost to them. */
    silenceWatches(silent: boolean): void;
    /** Changes of which this holds are never told by an open watch, and everything else is; null: all are told. */
    loseEvents(which: ((object: KubeObject) => boolean) | null): void;
    /** Open watches get an ERROR 410, old resourceVersions and continue tokens are no longer good. */
    expire(): void;
    /** This token is no longer good. */
    revokeToken(token: string): void;
    /** Every connection is cut at once while it is on. */
    down(down: boolean): void;
  };
  openWatches(): number;
  /** How often each `verb plural` was asked. */
  requests(): ReadonlyMap<string, number>;
  close(): Promise<void>;
}

function kubeconfigText(url: string, token: string, ca: string | undefined): string {
  const trust =
    ca === undefined ? { "insecure-skip-tls-verify": true } : { "certificate-authority-data": Buffer.from(ca).toString("base64") };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "embedded", cluster: { server: url, ...trust } }],
    users: [{ name: "embedded", user: { token } }],
    contexts: [{ name: "embedded", context: { cluster: "embedded", user: "embedded", namespace: "argocd" } }],
    "current-context": "embedded",
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** Starts the API on a socket. `close` ends every connection. */
export async function startKubernetes(options: KubernetesOptions): Promise<KubernetesSim> {
  const { clock, port, host = "127.0.0.1", token = randomToken(), keepEvents } = options;
  const store = new Store(defined({ clock, keep: keepEvents }));
  startTokenController(store);
  const [lister, watches] = [createLister(store, clock), createWatchHub(store, clock)];
  const accounts = new Map<string, Account>([[token, { user: "admin" }]]);
  const counts = new Map<string, number>();
  const onRequest = (verb: Verb, { plural }: Resource) => counts.set(`${verb} ${plural}`, (counts.get(`${verb} ${plural}`) ?? 0) + 1);
  const authority = options.tls === true ? createAuthority() : undefined;
  const certificate = authority?.issue([host, "localhost"]);
  let isDown = false;
  const server = createApiServer({ store, lister, watches, accounts, onRequest, isDown: () => isDown, certificate });
  const { url, close } = await listen(server, port, host);
  for (const name of ["default", "kube-system"]) store.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  return {
    url,
    token,
    ca: authority?.ca,
    store,
    kubeconfig: (other = token, ca = authority?.ca) => kubeconfigText(url, other, ca),
    addAccount(user, rules, given = randomToken()) {
      accounts.set(given, { user, rules });
      return given;
    },
    faults: {
      dropWatches: () => watches.drop(),
      silenceWatches: (silent) => watches.silence(silent),
      loseEvents: (which) => watches.lose(which),
      expire() {
        for (const one of [store, lister, watches]) one.expire();
      },
      revokeToken: (old) => void accounts.delete(old),
      down(down) {
        isDown = down;
        if (down) watches.drop();
      },
    },
    openWatches: () => watches.size(),
    requests: () => counts,
    async close() {
      watches.drop();
      await close();
    },
  };
}

function randomToken(): string {
  return randomBytes(24).toString("base64url");
}

/** Fills in the token of a Secret that asks for one of a ServiceAccount, as the token controller of a real cluster does. */
function startTokenController(store: Store): void {
  store.subscribe("secrets", ({ type, object }) => {
    const { namespace = "", name } = object.metadata;
    const data = (object["data"] ?? {}) as Record<string, string>;
    if (type === "DELETED" || object["type"] !== "kubernetes.io/service-account-token" || data["token"] !== undefined) return;
    const token = Buffer.from(randomBytes(24).toString("base64url")).toString("base64");
    store.change("secrets", namespace, name, (secret) => ({ ...secret, data: { ...data, token } }));
  });
}
