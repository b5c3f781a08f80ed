/** The bytes of ASCII that have a meaning in items and tables. AssemblyScript compiles this file, too. */

export const tab = 0x09;
export const lineFeed = 0x0a;
export const carriageReturn = 0x0d;
export const space = 0x20;
export const quote = 0x22;
export const plus = 0x2b;
export const comma = 0x2c;
export const hyphen = 0x2d;
export const dot = 0x2e;
export const slash = 0x2f;
export const zero = 0x30;
export const nine = 0x39;
export const colon = 0x3a;
export const semicolon = 0x3b;
export const lessThan = 0x3c;
export const greaterThan = 0x3e;
export const question = 0x3f;
export const atSign = 0x40;
export const openBracket = 0x5b;
export const backslash = 0x5c;
export const closeBracket = 0x5d;
export const underscore = 0x5f;
export const letterN = 0x6e;
export const openBrace = 0x7b;
export const bar = 0x7c;
export const closeBrace = 0x7d;
