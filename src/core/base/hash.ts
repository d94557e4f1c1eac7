/** SHA-256 (FIPS 180-4) and canonical JSON: the core may not load a platform's crypto, and a plan's hash is a few megabytes at most. */

const K = constants(64, (prime) => Math.cbrt(prime));
const START = constants(8, (prime) => Math.sqrt(prime));

/** Signed, since arithmetic on words above 2³¹ is slow in engines. First 32 bits of the fractional parts of a root of the first primes: what the standard's tables hold. */
function constants(count: number, root: (prime: number) => number): Int32Array {
  const words = new Int32Array(count);
  let found = 0;
  for (let n = 2; found < count; n++) {
    let isPrime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) isPrime = false;
    if (!isPrime) continue;
    const value = root(n);
    words[found++] = Math.floor((value - Math.floor(value)) * 2 ** 32) | 0;
  }
  return words;
}

/** SHA-256 of a text's UTF-8 bytes, in hex. */
export function sha256(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const padded = new Uint8Array((((bytes.length + 8) >> 6) + 1) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0);
  const state = new Int32Array(START);
  const schedule = new Int32Array(64);
  for (let offset = 0; offset < padded.length; offset += 64) compress(state, schedule, view, offset);
  let hex = "";
  for (const word of state) hex += (word >>> 0).toString(16).padStart(8, "0");
  return hex;
}

function at(words: Int32Array, i: number): number {
  return words[i] as number;
}

function compress(state: Int32Array, w: Int32Array, view: DataView, offset: number): void {
  for (let i = 0; i < 16; i++) w[i] = view.getInt32(offset + i * 4);
  for (let i = 16; i < 64; i++) {
    const x = at(w, i - 15);
    const y = at(w, i - 2);
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = (at(w, i - 16) + s0 + at(w, i - 7) + s1) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + at(K, i) + at(w, i)) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) state[i] = (at(state, i) + value) | 0;
}

/** JSON with the keys of every object in order and `undefined` left out: equal data gives equal text. */
export function canonicalJson(data: unknown): string {
  if (typeof data !== "object" || data === null) return JSON.stringify(data) ?? "null";
  if (Array.isArray(data)) return `[${data.map(canonicalJson).join(",")}]`;
  const parts: string[] = [];
  for (const key of Object.keys(data).sort()) {
    const value = (data as Record<string, unknown>)[key];
    if (value !== undefined) parts.push(`${JSON.stringify(key)}:${canonicalJson(value)}`);
  }
  return `{${parts.join(",")}}`;
}
