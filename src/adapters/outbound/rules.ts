/** Which hosts and addresses a request of a config repo may go to. Pure but for the list of networks; called by `outbound.ts` alone. */
import { BlockList, isIP } from "node:net";
import { matchesGlob } from "../../core/base/glob.ts";

/** A host, or a glob of hosts, with a port where it is not the scheme's own. */
export interface OutboundRule {
  host: string;
  /** Globs of `owner/name`: whose requests. Absent: everybody's. */
  repositories?: readonly string[] | undefined;
  /** Networks (`10.0.0.0/8`) that the name may resolve into, beside what is public. */
  networks?: readonly string[] | undefined;
}

/** Names that mean something else inside than outside: matched only where the rule itself writes them out. */
const INTERNAL = /(^|\.)(localhost|local|internal|svc|cluster\.local|home\.arpa|lan|intranet)$/;

/** A `*` stands for one or more labels of a name, never for a part of an address: `*` alone does not allow bare IP addresses. */
export function ruleFor(rules: readonly (string | OutboundRule)[], url: URL, repository: string | undefined): OutboundRule | undefined {
  const all = rules.map((rule) => (typeof rule === "string" ? { host: rule } : rule));
  return all.find((rule) => isOf(rule, repository) && matchesHost(rule.host, url));
}

function isOf({ repositories }: OutboundRule, repository = ""): boolean {
  return repositories === undefined || repositories.some((glob) => matchesGlob(glob.toLowerCase(), "go", repository.toLowerCase()));
}

export function matchesHost(pattern: string, url: URL): boolean {
  const [host, port] = split(pattern);
  const usual = url.port === "";
  if (port === undefined ? !usual : port !== "*" && port !== (usual ? (url.protocol === "https:" ? "443" : "80") : url.port)) return false;
  const name = url.hostname.toLowerCase().replace(/\.$/, "");
  if (!host.includes("*")) return host === name;
  if (isIP(name.replace(/^\[|\]$/g, "")) !== 0 || (isInternal(name) && !isInternal(written(host)))) return false;
  return matchesGlob(host.replaceAll("*", "?*"), "hosts", name);
}

function split(pattern: string): [string, string | undefined] {
  const [, host = "", port] = /^(.*?)(?::(\d+|\*))?$/.exec(pattern.toLowerCase()) ?? [];
  return [host, port];
}

/** What a glob says of a name's end in so many words; "" for nothing. */
function written(host: string): string {
  return host.slice(host.lastIndexOf("*") + 1);
}

/** Of this cluster or machine: a name without a dot is one, too. */
function isInternal(name: string): boolean {
  return name !== "" && (INTERNAL.test(name) || !name.includes("."));
}

const LOCAL = networks("0.0.0.0/8 127.0.0.0/8 169.254.0.0/16 224.0.0.0/4 240.0.0.0/4 ::/96 fe80::/10 ff00::/8".split(" "));
/** Also those that lead to an address of IPv4 that nobody looked at: by a translator (64:ff9b), by 6to4 (2002), by Teredo (2001::). */
const PRIVATE = networks(
  "10.0.0.0/8 100.64.0.0/10 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16 198.18.0.0/15 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 2001::/32 2002::/16 fc00::/7 fec0::/10".split(
    " ",
  ),
);

/**
 * Whether a name that this rule matches may be at this address. Public ones may always be. A name that is written out may be inside, too,
 * but on this machine only where it says so; one that a `*` stands for only in the rule's networks.
 */
export function isAllowedAddress(rule: OutboundRule, address: string): boolean {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/, "");
  const family = isIP(plain) === 6 ? "ipv6" : "ipv4";
  // Any other way to write a mapped address is nobody's.
  if (isIP(plain) === 0 || /^::ffff:/.test(plain)) return false;
  if (rule.networks !== undefined && networks(rule.networks).check(plain, family)) return true;
  const [host] = split(rule.host);
  if (LOCAL.check(plain, family)) return !host.includes("*") && /(^|\.)localhost$/.test(host);
  if (!PRIVATE.check(plain, family)) return true;
  return !host.includes("*") || isInternal(written(host));
}

function isNetwork(text: string): boolean {
  const [address = "", bits = ""] = text.split("/");
  const family = isIP(address);
  return family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

function networks(all: readonly string[]): BlockList {
  const list = new BlockList();
  for (const one of all.filter(isNetwork)) {
    const [address = "", bits] = one.split("/");
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return list;
}

/** What only the server may say: where a request goes, how it is framed, and whom it comes from. */
const OURS =
  /^(host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|via|forwarded|x-real-ip|x-client-ip|x-host|x-original-.*|x-rewrite-url|x-forwarded-.*|x-envoy-.*|proxy-.*|:.*)$/i;

export function isOurHeader(name: string): boolean {
  return OURS.test(name.trim());
}
