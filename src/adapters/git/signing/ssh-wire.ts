/** The encoding of SSH's keys and signatures (RFC 4251): lengths of four bytes, big-endian, before each string. */

export function sshString(bytes: Buffer | string): Buffer {
  const body = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
}

export interface WireReader {
  uint32(): number;
  /** Throws RangeError where the data ends before its own length says. */
  string(): Buffer;
  text(): string;
}

export function wireReader(data: Buffer): WireReader {
  let at = 0;
  function take(length: number): Buffer {
    if (length > data.length - at) throw new RangeError("it ends too early");
    at += length;
    return data.subarray(at - length, at);
  }
  const uint32 = () => take(4).readUInt32BE();
  const string = () => take(uint32());
  return { uint32, string, text: () => string().toString("utf8") };
}

/** Returns a number without the zero byte that keeps it positive, as JSON Web Keys want it. */
export function withoutSign(mpint: Buffer): Buffer {
  let from = 0;
  while (from < mpint.length - 1 && mpint[from] === 0) from += 1;
  return mpint.subarray(from);
}
