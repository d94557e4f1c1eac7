import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

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
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    to,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
