/** Random identifiers and secrets of API keys, and the hashes under which secrets are stored. */
import { createHash } from "node:crypto";
import { customAlphabet } from "nanoid";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** 53 random bits, so that identifiers do not collide by chance. */
export const newId = customAlphabet(base62, 9);

const secretDigits = customAlphabet(base62, 43);

/** 256 random bits, with a prefix by which secret scanners recognise a leaked one. */
export const newSecret = (isSandbox: boolean): string => (isSandbox ? "sk_test_" : "sk_") + secretDigits();

export const secretPattern = /^sk_(?:test_)?[0-9A-Za-z]{43}$/;

export const newToken = (): string => secretDigits();

/** Returns too little of a secret to help in guessing the rest. */
export const hintOf = (secret: string): string =>
  `${secret.slice(0, secret.lastIndexOf("_") + 1)}...${secret.slice(-4)}`;

/** A slow hash is not needed: secrets are random. */
export const hashOf = (secret: string): Uint8Array => createHash("sha256").update(secret).digest();
