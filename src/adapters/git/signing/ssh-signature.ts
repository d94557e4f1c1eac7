import { createHash, verify } from "node:crypto";
import type { CommitFault } from "../../../core/reasons/journal.ts";
import { type SigningKey, verifyingKey } from "./ssh-key.ts";
import { sshString, wireReader } from "./ssh-wire.ts";

/** SSHSIG, what `ssh-keygen -Y sign -n git` makes and git keeps in a commit (OpenSSH's PROTOCOL.sshsig). */

const MAGIC = "SSHSIG";
const NAMESPACE = "git";
const HASHES = ["sha256", "sha512"];
const BEGIN = "-----BEGIN SSH SIGNATURE-----";
const END = "-----END SSH SIGNATURE-----";

/** The armoured signature of a commit's payload. */
export function signPayload(key: SigningKey, payload: Buffer): string {
  const version = Buffer.from([0, 0, 0, 1]);
  const blob = key.sign(signedPart("sha512", payload));
  const whole = [Buffer.from(MAGIC), version, ...[key.blob, NAMESPACE, "", "sha512", blob].map(sshString)];
  const lines =
    Buffer.concat(whole)
      .toString("base64")
      .match(/.{1,70}/g) ?? [];
  return [BEGIN, ...lines, END].join("\n");
}

function signedPart(hash: string, payload: Buffer): Buffer {
  const digest = createHash(hash).update(payload).digest();
  return Buffer.concat([Buffer.from(MAGIC), ...[NAMESPACE, "", hash, digest].map(sshString)]);
}

/** Why an armoured signature is not one of these keys over this payload; undefined: it is. */
export function whyNotSigned(armoured: string, payload: Buffer, keys: readonly Buffer[]): CommitFault | undefined {
  const body = armoured.trim();
  if (!body.startsWith(BEGIN) || !body.endsWith(END)) return { code: "SIGNATURE_FAULT", fault: "NoSsh" };
  try {
    return judge(Buffer.from(body.slice(BEGIN.length, -END.length), "base64"), payload, keys);
  } catch {
    return { code: "SIGNATURE_FAULT", fault: "Damaged" };
  }
}

function judge(data: Buffer, payload: Buffer, keys: readonly Buffer[]): CommitFault | undefined {
  if (data.toString("latin1", 0, MAGIC.length) !== MAGIC) return { code: "SIGNATURE_FAULT", fault: "Damaged" };
  const reader = wireReader(data.subarray(MAGIC.length));
  if (reader.uint32() !== 1) return { code: "SIGNATURE_FAULT", fault: "Newer" };
  const blob = reader.string();
  const namespace = reader.text();
  reader.string();
  const hash = reader.text();
  const signature = wireReader(reader.string());
  if (!keys.some((key) => key.equals(blob))) return { code: "SIGNATURE_FAULT", fault: "OtherKey" };
  if (namespace !== NAMESPACE || !HASHES.includes(hash)) return { code: "SIGNATURE_FAULT", fault: "OtherUse" };
  const algorithm = signature.text();
  const key = verifyingKey(blob);
  const digest = { "ssh-ed25519": null, "rsa-sha2-256": "sha256", "rsa-sha2-512": "sha512" }[algorithm];
  if (key === undefined || digest === undefined) return { code: "SIGNATURE_KIND", word: algorithm.slice(0, 40) };
  return verify(digest, signedPart(hash, payload), key, signature.string()) ? undefined : { code: "SIGNATURE_FAULT", fault: "Mismatch" };
}
