import { expect, test } from "vitest";
import { GitFailure, gitError, remoteWords } from "./git-errors.ts";

const SECRETS = [
  "ghs_1234567_eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxIn0.c2ln-na_t",
  "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
  "github_pat_11AAAA_bbbb",
];

test.each(SECRETS)("what a remote says never carries a token: %s", (secret) => {
  const said = `remote: ${secret} is not enough\nfatal: unable to access 'https://x-access-token:${secret}@github.com/a/b.git/': returned error: 403\n`;
  const failure = new GitFailure(128, "", said);
  const error = gitError("push to https://github.com/a/b.git", failure);
  const everything = `${failure} ${failure.stderr} ${failure.stack} ${error} ${JSON.stringify(error.cause)} ${remoteWords(failure.stderr)}`;
  expect(everything).not.toContain(secret.slice(8));
  expect(error).toMatchObject({ kind: "Unauthorized", message: expect.stringContaining("[token] is not enough") });
});
