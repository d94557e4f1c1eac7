import { createSign } from "node:crypto";
import type { GitHubSim } from "../../src/sim/github/start.ts";

/** Who asks. */
type As = "app" | "jwt" | "admin" | "anonymous";

/** Gives the answer's JSON; throws where the status is not the expected one (any 2xx). */
export type Caller = (method: string, path: string, body?: object, options?: { as?: As; status?: number }) => Promise<Json>;

/** Loose on purpose: what is in it is what is being checked. */
export interface Json {
  [name: string]: Json;
}

function jwt(sim: GitHubSim): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "RS256", typ: "JWT" })}.${part({ iat: now - 30, exp: now + 300, iss: sim.app.id })}`;
  return `${text}.${createSign("RSA-SHA256").update(text).sign(sim.app.privateKey, "base64url")}`;
}

export function caller(sim: GitHubSim, installationId: number): Caller {
  const app = sim.installationToken(installationId);
  const admin = sim.token("acme");
  return async (method, path, body, options = {}) => {
    const token = { app, admin, jwt: jwt(sim), anonymous: undefined }[options.as ?? "app"];
    const answer = await fetch(`${sim.url}${path}`, {
      method,
      redirect: "manual",
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.text();
    const fine = options.status === undefined ? answer.ok : answer.status === options.status;
    if (!fine) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text === "" ? {} : JSON.parse(text)) as Json;
  };
}
