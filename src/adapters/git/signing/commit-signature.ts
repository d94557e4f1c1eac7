/** Where git keeps a commit's signature: a header whose further lines begin with a space. What is signed is all the rest. */

const HEADER = "gpgsig";

/** The commit object with its signature put in, after the other headers as git does. */
export function withSignature(commit: Buffer, signature: string): Buffer {
  const end = commit.indexOf("\n\n");
  const header = `${HEADER} ${signature.split("\n").join("\n ")}\n`;
  return Buffer.concat([commit.subarray(0, end + 1), Buffer.from(header), commit.subarray(end + 1)]);
}

/** What was signed, and the signature; undefined: there is none. */
export function signedParts(commit: Buffer): { payload: Buffer; signature: string } | undefined {
  const end = commit.indexOf("\n\n");
  const start = commit.subarray(0, end + 1).indexOf(`\n${HEADER} `) + 1;
  if (start === 0) return undefined;
  let stop = start;
  do stop = commit.indexOf(10, stop) + 1;
  while (stop > 0 && stop < end && commit[stop] === 32);
  const signature = commit.toString("utf8", start + HEADER.length + 1, stop - 1).replaceAll("\n ", "\n");
  return { payload: Buffer.concat([commit.subarray(0, start), commit.subarray(stop)]), signature };
}
