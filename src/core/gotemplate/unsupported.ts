/**
 * Functions of Argo CD's templates that this program does not evaluate: they need a clock, chance or keys, or their exact result could not be
 * promised. (`env`, `expandenv` and `getHostByName` are taken away by Argo CD, so they are as unknown as a misspelt name.)
 */
export const UNSUPPORTED: ReadonlySet<string> = new Set(
  [
    "ago date date_in_zone date_modify dateInZone dateModify duration durationRound htmlDate htmlDateInZone must_date_modify mustDateModify mustToDate now toDate unixEpoch",
    "randAlpha randAlphaNum randAscii randBytes randInt randNumeric shuffle uuidv4",
    "bcrypt buildCustomCert decryptAES derivePassword encryptAES genCA genCAWithKey genPrivateKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert genSignedCertWithKey htpasswd",
    "adler32sum sha1sum sha512sum b32enc b32dec",
    "addf add1f subf mulf divf maxf minf seq toDecimal",
    "camelcase kebabcase snakecase swapcase wrap wrapWith initials abbrevboth",
    "urlParse urlJoin osBase osClean osDir osExt osIsAbs",
    "html js urlquery call tpl deepCopy mustDeepCopy hello typeIsLike",
  ].flatMap((line) => line.split(" ")),
);
