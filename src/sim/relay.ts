import { createServer } from "node:http";
import { listen } from "./listen.ts";

/** GitHub has one webhook for the App and others for Argo CD: here one delivery is passed on, byte for byte, to each. */
export async function startRelay(): Promise<{ url: string; to: Set<string>; close(): Promise<void> }> {
  const to = new Set<string>();
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === "string" && /^(x-|content-type|user-agent)/.test(name) ? [[name, value] as [string, string]] : [],
    );
    const answers = await Promise.allSettled([...to].map((url) => fetch(url, { method: "POST", headers, body })));
    response.writeHead(answers.every((answer) => answer.status === "fulfilled" && answer.value.ok) ? 200 : 502).end();
  });
  const { url, close } = await listen(server);
  return { url: `${url}/`, to, close };
}
