/** The encoding windows-1252, the most common one besides UTF-8. */

const windows1252 = new TextDecoder("windows-1252");

/** Decodes as a stream: otherwise, Node.js 20 decodes the last bytes as Latin-1. */
export const decodeWindows1252 = (bytes: Uint8Array): string => windows1252.decode(bytes, { stream: true });

/** Without the Icelandic ones, at whose codes the Turkish and Baltic encodings have other letters. */
export const westernLetters = "À-ÏÑ-ÖØ-Üß-ïñ-öø-üŒœÿ";
