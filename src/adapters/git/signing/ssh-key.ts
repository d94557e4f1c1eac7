import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject, sign } from "node:crypto";
import { GitError } from "../port.ts";
import { sshString, type WireReader, wireReader, withoutSign } from "./ssh-wire.ts";

/** A private key to sign commits with. Ed25519 and RSA; without a passphrase, since nobody is there to type it. */
export interface SigningKey {
  /** As in `.pub` files: `ssh-ed25519 AAAA…`. */
  publicKey: string;
  /** The public key as it lies in signatures. */
  blob: Buffer;
  /** An SSH signature blob: algorithm and signature. */
  sign(data: Buffer): Buffer;
}

const MAGIC = "openssh-key-v1\0";

/** Reads a key as `ssh-keygen` writes it. Throws GitError `Invalid`, which never holds any of the key. */
export function readSigningKey(text: string): SigningKey {
  const body = /-----BEGIN OPENSSH PRIVATE KEY-----([\s\S]+?)-----END OPENSSH PRIVATE KEY-----/.exec(text)?.[1];
  if (body === undefined) {
    throw new GitError("Invalid", "the signing key is no OpenSSH private key; make one with: ssh-keygen -t ed25519 -N '' -f signing-key");
  }
  try {
    return parse(Buffer.from(body, "base64"));
  } catch (error) {
    if (error instanceof GitError) throw error;
    throw new GitError("Invalid", "the signing key is damaged: it could not be read to its end");
  }
}

function parse(data: Buffer): SigningKey {
  if (data.toString("latin1", 0, MAGIC.length) !== MAGIC) throw new RangeError("no such key");
  const reader = wireReader(data.subarray(MAGIC.length));
  const cipher = reader.text();
  reader.string();
  reader.string();
  if (cipher !== "none") throw new GitError("Invalid", "the signing key has a passphrase; give one without (ssh-keygen -p -N '' -f KEY)");
  if (reader.uint32() !== 1) throw new RangeError("several keys");
  const blob = reader.string();
  const secret = wireReader(reader.string());
  const [first, second] = [secret.uint32(), secret.uint32()];
  if (first !== second) throw new RangeError("check failed");
  const type = secret.text();
  const publicKey = `${type} ${blob.toString("base64")}`;
  if (type === "ssh-ed25519") {
    const key = createPrivateKey({ key: ed25519(secret), format: "jwk" });
    return { publicKey, blob, sign: (bytes) => signature("ssh-ed25519", sign(null, bytes, key)) };
  }
  if (type === "ssh-rsa") {
    const key = createPrivateKey({ key: rsa(secret), format: "jwk" });
    return { publicKey, blob, sign: (bytes) => signature("rsa-sha2-512", sign("sha512", bytes, key)) };
  }
  throw new GitError("Invalid", `the signing key is of type ${type.slice(0, 40)}; only ssh-ed25519 and ssh-rsa are understood`);
}

function signature(algorithm: string, bytes: Buffer): Buffer {
  return Buffer.concat([sshString(algorithm), sshString(bytes)]);
}

function ed25519(secret: WireReader): JsonWebKey {
  const x = secret.string().toString("base64url");
  const d = secret.string().subarray(0, 32).toString("base64url");
  return { kty: "OKP", crv: "Ed25519", x, d };
}

function rsa(secret: WireReader): JsonWebKey {
  const [n, e, d, qi, p, q] = Array.from({ length: 6 }, () => withoutSign(secret.string()));
  if (n === undefined || e === undefined || d === undefined || qi === undefined || p === undefined || q === undefined) {
    throw new RangeError("it ends too early");
  }
  const number = (bytes: Buffer) => BigInt(`0x${bytes.toString("hex")}`);
  const text = (value: bigint) => {
    const hex = value.toString(16);
    return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex").toString("base64url");
  };
  const base = { n, e, d, p, q, qi };
  const encoded = Object.fromEntries(Object.entries(base).map(([name, bytes]) => [name, bytes.toString("base64url")]));
  return { kty: "RSA", ...encoded, dp: text(number(d) % (number(p) - 1n)), dq: text(number(d) % (number(q) - 1n)) };
}

/** What a signature by a public key blob is checked with; undefined: a kind that is not understood. */
export function verifyingKey(blob: Buffer): KeyObject | undefined {
  const reader = wireReader(blob);
  const type = reader.text();
  if (type === "ssh-ed25519") {
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: reader.string().toString("base64url") }, format: "jwk" });
  }
  if (type !== "ssh-rsa") return undefined;
  const e = withoutSign(reader.string()).toString("base64url");
  return createPublicKey({ key: { kty: "RSA", e, n: withoutSign(reader.string()).toString("base64url") }, format: "jwk" });
}

/** The blob of a `.pub` line. Throws GitError `Invalid`. */
export function publicKeyBlob(line: string): Buffer {
  const [type = "", base64 = ""] = line.trim().split(/\s+/);
  const blob = Buffer.from(base64, "base64");
  const named = blob.length > 4 && blob.length >= 4 + blob.readUInt32BE() ? blob.toString("utf8", 4, 4 + blob.readUInt32BE()) : "";
  if (named === "" || named !== type) throw new GitError("Invalid", `"${line.slice(0, 40)}" is no public key as in a .pub file`);
  return blob;
}
