/**
 * Asks a remote over HTTP by git's second protocol: no process, and a connection that is kept. What is asked is for `ls-refs.ts` and
 * `fetch-pack.ts` to say.
 */
import { type Credentials, credentialsHeader } from "./git-env.ts";
import { HostFailure } from "./git-errors.ts";

export interface UploadPack {
  /** Without credentials in it. */
  url: string;
  credentials: Credentials | undefined;
  closing: AbortSignal;
}

/** An answer that is longer, or comes slower, is git's. */
const MOST_BYTES = 32 * 1024 * 1024;
const LIMIT_MS = 30_000;

/**
 * The answer to one command with its arguments. undefined: this remote did not answer so, and git says why. Rejects with HostFailure where its host
 * cannot answer at all, or wants to be asked less.
 */
export async function askUploadPack(
  { url, credentials, closing }: UploadPack,
  command: string,
  lines: readonly string[],
): Promise<Buffer | undefined> {
  const headers: Record<string, string> = {
    "content-type": "application/x-git-upload-pack-request",
    accept: "application/x-git-upload-pack-result",
    "git-protocol": "version=2",
    // GitHub answers who does not look like git as a browser.
    "user-agent": "git/stagecoach",
  };
  if (credentials !== undefined) headers["authorization"] = credentialsHeader(credentials);
  const body = [packet(`command=${command}\n`), "0001", ...lines.map(packet), "0000"].join("");
  const signal = AbortSignal.any([closing, AbortSignal.timeout(LIMIT_MS)]);
  const answer = await fetch(`${url}/git-upload-pack`, { method: "POST", headers, body, signal, redirect: "manual" });
  const isResult = answer.status === 200 && answer.headers.get("content-type") === "application/x-git-upload-pack-result";
  if (isResult) return await bytesOf(answer);
  await answer.body?.cancel();
  if (answer.status < 500 && answer.status !== 429) return undefined;
  throw new HostFailure(url, answer.status);
}

async function bytesOf(answer: Response): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body ?? []) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) throw new Error("an answer of a remote is too long");
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function packet(text: string): string {
  return (Buffer.byteLength(text) + 4).toString(16).padStart(4, "0") + text;
}
