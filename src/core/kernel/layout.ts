// The memory and the codes that the kernel and JavaScript share. TypeScript and AssemblyScript compile this file: only
// constants without types.

export const recordWords = 7;

/**
 * Words for the domain of a record's item: its hash in two, its start, its length in bytes with flags, and the hash of
 * the item's canonical form in two.
 */
export const domainWords = 6;
export const domainLengthMask = 255;
/** The item is its own canonical form; the hash of that form is known. */
export const isOwnMailbox = 256;
export const hasMailbox = 512;

/** Spare bytes after each part of a slot and after the record numbers: reads take 64 bytes, writes 16. */
export const slack = 64;

/** Settings of the run, one 32-bit word each, at {@link settings} plus 4 times the word's number. */
export const settings = 1024;
export const delimiterWord = 0;
export const quoteWord = 1;
export const commentWord = 2;
export const columnsWord = 3;
export const widthWord = 4;
export const paddingWord = 5;
/** Index of the run's shard, from 0, and the number of shards; 0 and 1 without shards. */
export const shardWord = 6;
export const shardsWord = 7;
export const seedWord = 8;
export const seedWords = 14;
/** Slots of public suffixes and disposable domains; 0 if the classifier has to be asked. */
export const suffixSlotsWord = 22;
export const disposableSlotsWord = 23;
/** The quote around an item: that of the table, or of a JSON string; 256 where quotes are text. */
export const itemQuoteWord = 24;
/** 256 if quotes are doubled; then whether spaces in front of fields belong to the delimiter. */
export const escapeWord = 25;
export const skipsSpacesWord = 26;
export const hasOwnNamesWord = 27;
export const settingsWords = 28;

/** A byte for each low half of a character, with a bit for each high half. */
export const atomClass = 2048;
export const labelClass = atomClass + 16;

/** Bits of two-byte letters, lower case or without case, so that the key of an item is its own bytes. */
export const letters = 2560;

export const typos = 3072;
export const mostTypos = 128;
export const typoStarts = typos + 4 * mostTypos;
export const mostTypoLength = 64;

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

export const placeholders = 12288;

export const tails = 16384;
export const tailBytes = 512;
export const mostTails = 32;

export const labels = tails + tailBytes * mostTails;
/** Rules about mailboxes apply to no listed domain; those about domains come before; some are about top-level domains. */
export const askedUnlessListed = 1;
export const askedLabel = 2;
export const askedTopLevel = 4;

/** Buckets of eight 64-bit words: 48 bits of the hash, 16 of facts; the other 16 of it number the bucket; 0 is free. */
export const domains = labels + 32768;
export const bucketBytes = 64;

/** Counts of items by the number of the domain's word in the buckets; and the address of its name, or 0. */
const mostDomains = 524288;
export const domainCounts = domains + 8 * mostDomains;
export const domainNames = domainCounts + 4 * mostDomains;
/** Disposable names after the number of their word and their length, a byte. The first word counts the bytes in use. */
export const names = domainNames + 4 * mostDomains;
export const nameHead = 5;
export const namesEnd = names + 8388608;

/** Slots of 8 bytes as in classifier/tables/name-table.ts. */
export const suffixNames = names + 8388608;
export const mostSuffixSlots = 65536;
export const disposableNames = suffixNames + 8 * mostSuffixSlots;
export const mostDisposableSlots = 1048576;
/** Equal to those in classifier/tables/suffix-table.ts. */
export const icannFlag = 1;
export const icannBelowFlag = 2;
export const exceptionFlag = 4;
export const hasMoreFlag = 8;
export const suffixFlagBits = 6;

/** A Bloom filter, two bits a name of own lists: from the high word of its hash, and the low one without flags. */
export const ownNames = disposableNames + 8 * mostDisposableSlots;
export const ownNameBits = 8388608;
export const ownFlagBits = 2;

export const sharedEnd = ownNames + ownNameBits / 8;

/** Facts about a domain: the lowest five bits are an outcome or a code below; the others say which rules apply. */
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
/** What a provider ignores in a mailbox: nothing, tags, or tags and dots; or only canonical.ts has the rule. */
export const spellingShift = 13;
export const spellingMask = 3;
export const ownSpelling = 0;
export const freeTags = 1;
export const freeTagsAndDots = 2;
export const otherSpelling = 3;

export const otherShardCode = 253;
export const askCode = 254;
export const notARowCode = 255;
export const noItemCode = 0;

/** In the order of classifier/outcomes.ts. */
export const okCode = 1;
export const relayCode = 2;
export const subAddressCode = 3;
export const disposableDomainCode = 4;
export const impossibleMailboxCode = 5;

export const scratchBytes = 6272;
export const textAt = 2048;
export const mostText = 4096;

/** Memory of distinct items: a scratch word; hashes, codes and flags of `distinctRows` rows; then the lines. */
export const distinctIgnored = 512;
export const distinctRows = 32768;
export const distinctHashes = 1024;
export const distinctCodes = distinctHashes + 8 * distinctRows;
export const distinctIsNew = distinctCodes + distinctRows;
export const distinctLines = distinctIsNew + distinctRows;
