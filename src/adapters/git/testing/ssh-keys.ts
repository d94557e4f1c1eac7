import { generateKeyPairSync } from "node:crypto";
import { sshString } from "../signing/ssh-wire.ts";

/** A fresh Ed25519 key as `ssh-keygen -N ''` would write it, and its `.pub` line. For tests only. */
export function sshKey(): { secret: string; pub: string } {
  const { d = "", x = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  const [secretBytes, publicBytes] = [Buffer.from(d, "base64url"), Buffer.from(x, "base64url")];
  const blob = Buffer.concat([sshString("ssh-ed25519"), sshString(publicBytes)]);
  const check = Buffer.from([1, 2, 3, 4, 1, 2, 3, 4]);
  const fields = [
    sshString("ssh-ed25519"),
    sshString(publicBytes),
    sshString(Buffer.concat([secretBytes, publicBytes])),
    sshString("test"),
  ];
  const bare = Buffer.concat([check, ...fields]);
  const padding = Buffer.from(Array.from({ length: (8 - (bare.length % 8)) % 8 }, (_, at) => at + 1));
  const parts = [
    Buffer.from("openssh-key-v1\0"),
    sshString("none"),
    sshString("none"),
    sshString(""),
    Buffer.from([0, 0, 0, 1]),
    sshString(blob),
  ];
  const lines =
    Buffer.concat([...parts, sshString(Buffer.concat([bare, padding]))])
      .toString("base64")
      .match(/.{1,70}/g) ?? [];
  const secret = ["-----BEGIN OPENSSH PRIVATE KEY-----", ...lines, "-----END OPENSSH PRIVATE KEY-----", ""].join("\n");
  return { secret, pub: `ssh-ed25519 ${blob.toString("base64")} test` };
}
