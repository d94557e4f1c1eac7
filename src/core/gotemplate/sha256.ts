/** SHA-256 (FIPS 180-4) of text's UTF-8, in hex: small inputs only, so that templates need no crypto library. */
export function sha256(input: string): string {
  const words = padded(new TextEncoder().encode(input));
  const { state: hash, keys } = constants();
  const schedule = new Uint32Array(64);
  for (let block = 0; block < words.length; block += 16) {
    schedule.set(words.subarray(block, block + 16));
    for (let i = 16; i < 64; i++) {
      const a = schedule[i - 15] ?? 0;
      const b = schedule[i - 2] ?? 0;
      const s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3);
      const s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10);
      schedule[i] = (schedule[i - 16] ?? 0) + s0 + (schedule[i - 7] ?? 0) + s1;
    }
    compress(hash, schedule, keys);
  }
  return [...hash].map((word) => word.toString(16).padStart(8, "0")).join("");
}

function rotate(value: number, by: number): number {
  return (value >>> by) | (value << (32 - by));
}

function compress(hash: Uint32Array, schedule: Uint32Array, keys: Uint32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const first = (h + s1 + ((e & f) ^ (~e & g)) + (keys[i] ?? 0) + (schedule[i] ?? 0)) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    hash[index] = (hash[index] ?? 0) + word;
  });
}

function padded(bytes: Uint8Array): Uint32Array {
  const blocks = Math.ceil((bytes.length + 9) / 64);
  const buffer = new DataView(new ArrayBuffer(blocks * 64));
  bytes.forEach((byte, index) => {
    buffer.setUint8(index, byte);
  });
  buffer.setUint8(bytes.length, 0x80);
  buffer.setUint32(blocks * 64 - 8, Math.floor(bytes.length / 0x20000000));
  buffer.setUint32(blocks * 64 - 4, bytes.length * 8);
  return Uint32Array.from({ length: blocks * 16 }, (_, index) => buffer.getUint32(index * 4));
}

/** The first 32 bits of the fractions of the square (cube) roots of the first 8 (64) primes. */
function constants(): { state: Uint32Array; keys: Uint32Array } {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < 64; candidate++) if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  const fraction = (root: number) => Math.floor((root - Math.floor(root)) * 0x100000000);
  return {
    state: Uint32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
    keys: Uint32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
  };
}
