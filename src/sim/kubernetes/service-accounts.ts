import { randomBytes } from "node:crypto";
import type { Store } from "./store.ts";

/** Fills in the token of a Secret that asks for one of a ServiceAccount, as the token controller of a real cluster does. */
export function startTokenController(store: Store): void {
  store.subscribe("secrets", ({ type, object }) => {
    const { namespace = "", name } = object.metadata;
    const data = (object["data"] ?? {}) as Record<string, string>;
    if (type === "DELETED" || object["type"] !== "kubernetes.io/service-account-token" || data["token"] !== undefined) return;
    const token = Buffer.from(randomBytes(24).toString("base64url")).toString("base64");
    store.change("secrets", namespace, name, (secret) => ({ ...secret, data: { ...data, token } }));
  });
}
