import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import type { CommitObject } from "../git/objects.ts";
import type { SigningKey, User, World } from "../model/model.ts";
import { seconds, WEB_FLOW } from "../model/world.ts";
import { ApiFailure, invalid } from "./failure.ts";

/** As GitHub's `verification` of a commit. */
interface Verification {
  verified: boolean;
  reason:
    | "valid"
    | "unsigned"
    | "unknown_key"
    | "invalid"
    | "bad_email"
    | "unknown_signature_type"
    | "gpgverify_unavailable"
    | "gpgverify_error";
  signature: string | null;
  payload: string | null;
  verified_at: string | null;
}

const MARK = "embedded-github-web-flow";

/** What GitHub's own signature looks like here: it can only be made by this process, and is checked by looking the commit up. */
export function webFlowSignature(): string {
  const body = Buffer.from(MARK).toString("base64");
  return `-----BEGIN PGP SIGNATURE-----\n\n${body}\n-----END PGP SIGNATURE-----\n`;
}

const ours = new WeakMap<World, Set<string>>();

/** Remembers that the site itself made this commit: what only looks like its signature is not verified. */
export function signedByUs(world: World, sha: string): void {
  const known = ours.get(world) ?? new Set();
  ours.set(world, known.add(sha));
}

/** Registers an SSH key for signing. Throws 422 where it is no key, or in use. */
export function addSigningKey(world: World, user: User, text: string, title: string): SigningKey {
  const [type = "", data = ""] = text.trim().split(/\s+/);
  const key = `${type} ${data}`;
  if (publicKeyOf(Buffer.from(data, "base64")) === undefined) {
    throw invalid({
      resource: "SSHSigningKey",
      field: "key",
      code: "custom",
      message: "key is invalid. You must supply a key in OpenSSH public key format",
    });
  }
  if (world.signingKeys.some((one) => one.key === key)) {
    throw new ApiFailure(422, "Validation Failed", [
      { resource: "SSHSigningKey", field: "key", code: "custom", message: "key is already in use" },
    ]);
  }
  const made: SigningKey = { id: world.nextId(), user, title, key, createdAt: world.clock.now() };
  world.signingKeys.push(made);
  return made;
}

export function verificationOf(world: World, commit: CommitObject): Verification {
  const { signature, payload } = commit;
  if (signature === undefined || payload === undefined) {
    return { verified: false, reason: "unsigned", signature: null, payload: null, verified_at: null };
  }
  const reason = world.faults.verification?.(commit.sha) ?? judge(world, commit, signature, payload);
  const verified_at = reason === "valid" ? seconds(commit.committer.at * 1000) : null;
  return { verified: reason === "valid", reason, signature, payload: payload.toString(), verified_at };
}

function judge(world: World, commit: CommitObject, signature: string, payload: Buffer): Verification["reason"] {
  if (ours.get(world)?.has(commit.sha) === true) return "valid";
  if (!signature.startsWith("-----BEGIN SSH SIGNATURE-----")) {
    return signature.startsWith("-----BEGIN PGP") ? "unknown_key" : "unknown_signature_type";
  }
  const read = readSshSignature(signature);
  if (read === undefined || read.namespace !== "git") return "invalid";
  const owner = world.signingKeys.find((one) => one.key.split(" ")[1] === read.keyData.toString("base64"));
  if (owner === undefined) return "unknown_key";
  if (!checkSsh(read, payload)) return "invalid";
  const login = /^(?:\d+\+)?(.+)@users\.noreply\.github\.com$/.exec(commit.committer.email)?.[1];
  return login?.toLowerCase() === owner.user.login.toLowerCase() ? "valid" : "bad_email";
}

/** Who signed: the site, or the account whose key it is. */
export function signerOf(world: World, commit: CommitObject): User | undefined {
  if (ours.get(world)?.has(commit.sha) === true) return WEB_FLOW;
  const read = commit.signature === undefined ? undefined : readSshSignature(commit.signature);
  return world.signingKeys.find((one) => one.key.split(" ")[1] === read?.keyData.toString("base64"))?.user;
}

interface SshSignature {
  keyData: Buffer;
  namespace: string;
  hash: string;
  kind: string;
  blob: Buffer;
}

/** The fields of a length-prefixed SSH buffer. */
function strings(data: Buffer): Buffer[] {
  const out: Buffer[] = [];
  for (let at = 0; at + 4 <= data.length; ) {
    const length = data.readUInt32BE(at);
    if (at + 4 + length > data.length) return out;
    out.push(data.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return out;
}

/** OpenSSH's PROTOCOL.sshsig: magic, version, public key, namespace, reserved, hash, signature. */
function readSshSignature(armored: string): SshSignature | undefined {
  const data = Buffer.from(armored.replace(/-----[A-Z ]+-----/g, "").replace(/\s/g, ""), "base64");
  if (data.toString("latin1", 0, 6) !== "SSHSIG" || data.length < 10 || data.readUInt32BE(6) !== 1) return undefined;
  const [keyData, namespace, , hash, signature] = strings(data.subarray(10));
  if (keyData === undefined || namespace === undefined || hash === undefined || signature === undefined) return undefined;
  const [kind, blob] = strings(signature);
  if (kind === undefined || blob === undefined) return undefined;
  return { keyData, namespace: namespace.toString(), hash: hash.toString(), kind: kind.toString(), blob };
}

function sshString(data: Buffer | string): Buffer {
  const bytes = Buffer.from(data);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function checkSsh(read: SshSignature, payload: Buffer): boolean {
  const key = publicKeyOf(read.keyData);
  if (key === undefined || (read.hash !== "sha512" && read.hash !== "sha256")) return false;
  const digest = createHash(read.hash).update(payload).digest();
  const signed = Buffer.concat([Buffer.from("SSHSIG"), ...[read.namespace, "", read.hash].map(sshString), sshString(digest)]);
  if (read.kind === "ssh-ed25519") return verify(null, signed, key, read.blob);
  if (read.kind === "rsa-sha2-512") return verify("sha512", signed, key, read.blob);
  return read.kind === "rsa-sha2-256" && verify("sha256", signed, key, read.blob);
}

/** Ed25519 and RSA keys; undefined: no key that this reads. */
function publicKeyOf(data: Buffer): KeyObject | undefined {
  const [type, first, second] = strings(data);
  try {
    if (type?.toString() === "ssh-ed25519" && first !== undefined) {
      return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: first.toString("base64url") }, format: "jwk" });
    }
    if (type?.toString() === "ssh-rsa" && first !== undefined && second !== undefined) {
      const [e, n] = [first, second].map((one) => (one[0] === 0 ? one.subarray(1) : one).toString("base64url"));
      return createPublicKey({ key: { kty: "RSA", e: e ?? "", n: n ?? "" }, format: "jwk" });
    }
  } catch {
    return undefined;
  }
  return undefined;
}
