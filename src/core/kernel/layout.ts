/**
 * The layout of the memory that the kernel and JavaScript share, and the codes that both use. Compiled by both compilers,
 * TypeScript's and AssemblyScript's: constants without types only.
 */

/** How many numbers the scanner gives for each record, in the order of `Offset`. */
export const recordWords = 7;

/** Words for the domain of a record's item: its hash in two words, its start, and its length in bytes with a flag. */
export const domainWords = 4;
export const domainLengthMask = 255;
export const isOwnMailbox = 256;

/** Spare bytes after each part of a slot and after the record numbers: reads take 64 bytes, writes 16. */
export const slack = 64;

/** Settings of the run, one 32-bit word each, at {@link settings} plus 4 times the word's number. */
export const settings = 1024;
export const delimiterWord = 0;
export const quoteWord = 1;
export const commentWord = 2;
/** Number of columns with items; each gets the added fields. */
export const columnsWord = 3;
export const widthWord = 4;
export const paddingWord = 5;
/** Index of the run's shard, from 0, and the number of shards; 0 and 1 without shards. */
export const shardWord = 6;
export const shardsWord = 7;
/** Seven keys of the hash, two words each. */
export const seedWord = 8;
export const seedWords = 14;
/**
 * Slots of the tables of public suffixes and disposable domains, 0 if the classifier has to be asked.
 */
export const suffixSlotsWord = 22;
export const disposableSlotsWord = 23;
/** The quote around an item: that of the table, or of a JSON string; 256 where quotes are text. */
export const itemQuoteWord = 24;
/** The byte that escapes a quote, 256 if quotes are doubled; whether spaces in front of fields belong to the delimiter. */
export const escapeWord = 25;
export const skipsSpacesWord = 26;
export const hasOwnNamesWord = 27;
export const settingsWords = 28;

/** Classes of characters, for atoms and for labels: a byte for each low half of a character, with a bit for each high half. */
export const atomClass = 2048;
export const labelClass = atomClass + 16;

/**
 * The two-byte letters in UTF-8 that a domain may have: a bit for each character from U+0080 to U+07FF. They are lower case or
 * have no case, so that the key of an item is its own bytes.
 */
export const letters = 2560;

/** Providers that are often mistyped, and then labels: the letters of each as bits, sorted by length. */
export const typos = 3072;
export const mostTypos = 128;
/** For each length, the number of providers, and then of labels, that are shorter. Longer names count as of the last length. */
export const typoStarts = typos + 4 * mostTypos;
export const mostTypoLength = 64;

/** Grammars of mailbox names: for each, 256 bytes with the positions allowed for each byte, and three words. */
export const grammars = typoStarts + 2 * mostTypoLength;
export const mostGrammars = 16;
export const grammarBytes = 272;
export const shortestAt = 256;
export const longestAt = 260;
export const dotsAt = 264;
export const freeDots = 0;
export const apartDots = 1;
export const ignoredDots = 2;
export const startPosition = 1;
export const insidePosition = 2;
export const endPosition = 4;

/** A bit for each three letters with which a placeholder may start. */
export const placeholders = 12288;

/** The fields added to a record, by status code: their length, then their bytes. */
export const tails = 16384;
export const tailBytes = 512;
export const mostTails = 32;

/** By `labelCode` in classifier/rules/mailbox.ts, whether a rule names a label above the top level, or a top-level domain. */
export const labels = tails + tailBytes * mostTails;
export const askedLabel = 1;
export const askedTopLevel = 2;

/**
 * The cache of domains: buckets of eight 64-bit words, each with 48 bits of the domain's hash above 16 bits of facts. The other
 * 16 bits of the hash are the number of the bucket. A zero word is free.
 */
export const domains = labels + 32768;
export const bucketBytes = 64;

/**
 * The number of items at each disposable domain, by the number of its word in the buckets; and the address of its name, 0 for
 * none.
 */
export const mostDomains = 524288;
export const domainCounts = domains + 8 * mostDomains;
export const domainNames = domainCounts + 4 * mostDomains;
/**
 * The names of disposable domains, each after the number of its word in the buckets and its length in a byte. The first word is
 * the number of bytes in use.
 */
export const names = domainNames + 4 * mostDomains;
export const nameHead = 5;
export const namesEnd = names + 8388608;

/** The public suffixes and the disposable domains, in slots of 8 bytes as in classifier/name-table.ts. */
export const suffixNames = names + 8388608;
export const mostSuffixSlots = 65536;
export const disposableNames = suffixNames + 8 * mostSuffixSlots;
export const mostDisposableSlots = 1048576;
/** Flags of public suffixes, equal to those in classifier/suffix-table.ts. */
export const icannFlag = 1;
export const icannBelowFlag = 2;
export const exceptionFlag = 4;
export const hasMoreFlag = 8;
export const suffixFlagBits = 6;

/**
 * The names of own lists, as a Bloom filter: two bits for each, one from the high word of its hash and one from the low word
 * without the bits that the table of names uses for flags. A million names set a fifth of all bits.
 */
export const ownNames = disposableNames + 8 * mostDisposableSlots;
export const ownNameBits = 8388608;
export const ownFlagBits = 2;

export const sharedEnd = ownNames + ownNameBits / 8;

/**
 * The facts about a domain, 16 bits: the lowest five are the code of an outcome (see classifier/outcomes.ts) or one of the two
 * codes below; the others say which rules its mailboxes have.
 */
export const outcomeMask = 31;
export const passes = 30;
/** Only the classifier knows the facts. */
export const untold = 31;
export const grammarShift = 5;
export const grammarMask = 15;
export const hasNoPlus = 512;
export const hasPlaceholders = 1024;
export const isRelay = 2048;
export const isSubAddress = 4096;

export const otherShardCode = 253;
/** A record that the classifier has to judge. */
export const askCode = 254;
export const notARowCode = 255;
export const noItemCode = 0;

/** Codes of outcomes that the kernel names, in the order of classifier/outcomes.ts. */
export const okCode = 1;
export const relayCode = 2;
export const subAddressCode = 3;
export const disposableDomainCode = 4;
export const impossibleMailboxCode = 5;

export const scratchBytes = 6272;
/** Offset and maximum length of a text to hash, in a thread's scratch memory. */
export const textAt = 2048;
export const mostText = 4096;

/**
 * Memory of a table of distinct items: a scratch word; hashes, codes and flags of `distinctRows` rows; then the lines.
 */
export const distinctIgnored = 512;
export const distinctRows = 32768;
export const distinctHashes = 1024;
export const distinctCodes = distinctHashes + 8 * distinctRows;
export const distinctIsNew = distinctCodes + distinctRows;
export const distinctLines = distinctIsNew + distinctRows;
