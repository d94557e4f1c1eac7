import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";

/** A certificate authority of a world that lives in memory, so that TLS can be tried with a CA that nobody else trusts. */
interface Authority {
  /** PEM: what a client must be given. */
  ca: string;
  /** A certificate for these host names and IPv4 addresses, in PEM. */
  issue(hosts: readonly string[]): { cert: string; key: string };
}

const ECDSA_SHA256 = oid("1.2.840.10045.4.3.2");
const COMMON_NAME = oid("2.5.4.3");
const SUBJECT_ALT_NAME = oid("2.5.29.17");
const BASIC_CONSTRAINTS = oid("2.5.29.19");
/** The wall's time, since TLS asks no other clock. */
const FROM = "200101000000Z";
const UNTIL = "491231235959Z";

function tlv(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const length = Buffer.from(body.length.toString(16).padStart(body.length > 0xff ? 4 : 2, "0"), "hex");
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body]);
}

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tlv(0x06, Buffer.from(bytes));
}

const sequence = (...parts: Uint8Array[]) => tlv(0x30, ...parts);
const octets = (bytes: Uint8Array) => tlv(0x04, bytes);
const nameOf = (text: string) => sequence(tlv(0x31, sequence(COMMON_NAME, tlv(0x0c, Buffer.from(text)))));

function altNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    isIP(host) === 4 ? tlv(0x87, Buffer.from(host.split(".").map(Number))) : tlv(0x82, Buffer.from(host)),
  );
  return sequence(SUBJECT_ALT_NAME, octets(sequence(...names)));
}

interface Wanted {
  subject: string;
  issuer: string;
  key: KeyObject;
  extension: Buffer;
}

function certificate({ subject, issuer, key, extension }: Wanted, signer: KeyObject): string {
  const serial = tlv(0x02, Buffer.concat([Buffer.from([0x01]), randomBytes(8)]));
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    serial,
    sequence(ECDSA_SHA256),
    nameOf(issuer),
    sequence(tlv(0x17, Buffer.from(FROM)), tlv(0x17, Buffer.from(UNTIL))),
    nameOf(subject),
    key.export({ type: "spki", format: "der" }),
    tlv(0xa3, sequence(extension)),
  );
  const der = sequence(body, sequence(ECDSA_SHA256), tlv(0x03, Buffer.from([0]), sign("sha256", body, signer)));
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

export function createAuthority(): Authority {
  const name = "embedded CA";
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const isCa = sequence(BASIC_CONSTRAINTS, tlv(0x01, Buffer.from([0xff])), octets(sequence(tlv(0x01, Buffer.from([0xff])))));
  const ca = certificate({ subject: name, issuer: name, key: own.publicKey, extension: isCa }, own.privateKey);
  return {
    ca,
    issue(hosts) {
      const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const wanted = { subject: hosts[0] ?? "embedded", issuer: name, key: pair.publicKey, extension: altNames(hosts) };
      return { cert: certificate(wanted, own.privateKey), key: pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
    },
  };
}
