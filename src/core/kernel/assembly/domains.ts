/** The facts of the domains that any thread has met, and how often their disposable ones occur. */
import * as layout from "../layout";
import { listedAt, notPlain, plainFacts } from "./facts";
import { hash, smallLetter } from "./hash";

/** Asks JavaScript for 16 bits as in layout.ts; above them is the length of the listed name of a disposable domain. */
declare function factsOf(start: usize, end: usize): u32;

let recalled: usize = layout.domains;

export function recall(hash: u64, start: usize, end: usize): u32 {
  const bucket = bucketOf(hash);
  const key: u64 = hash << 16;
  // A full bucket loses one of its domains.
  let free: usize = bucket + 8 * (<u32>(hash >> 40) & 7);
  let before: u64 = atomic.load<u64>(free);
  for (let word: usize = bucket; word < bucket + layout.bucketBytes; word += 8) {
    const known: u64 = atomic.load<u64>(word);
    if (known === 0) {
      free = word;
      before = 0;
      break;
    }
    if ((known & ~0xffff) === key) {
      recalled = word;
      return <u32>(known & 0xffff);
    }
  }
  let facts: u32 = plainFacts(start, end);
  let listed: usize = listedAt;
  if (facts === notPlain) {
    const found: u32 = factsOf(start, end);
    facts = found & 0xffff;
    listed = end - (found >> 16);
  }
  // Another thread may have taken the word meanwhile, for this domain or another one.
  if (atomic.cmpxchg<u64>(free, before, key | <u64>facts) !== before) return recall(hash, start, end);
  recalled = free;
  if (before !== 0) atomic.store<i32>(layout.domainCounts + 4 * numberOf(free), 0);
  if (mayBeDisposable(facts)) keepName(numberOf(free), listed, end);
  return facts;
}

function mayBeDisposable(facts: u32): bool {
  const outcome = facts & layout.outcomeMask;
  return outcome === layout.disposableDomainCode || outcome === layout.untold;
}

/** Without a name or room, the domain is counted, but not shown. */
function keepName(number: u32, start: usize, end: usize): void {
  const length = <u32>(end - start);
  let at: u32 = 0;
  if (length > 0 && <u32>layout.names + atomic.load<u32>(layout.names) + 65536 < <u32>layout.namesEnd) {
    at = <u32>layout.names + 4 + atomic.add<u32>(layout.names, layout.nameHead + length);
    store<u32>(at, number);
    store<u8>(at + 4, <u8>length);
    for (let i: u32 = 0; i < length; i++) store<u8>(at + layout.nameHead + i, <u8>smallLetter(load<u8>(start + i)));
  }
  atomic.store<u32>(layout.domainNames + 4 * number, at);
}

function numberOf(word: usize): u32 {
  return <u32>(word - layout.domains) >> 3;
}

export function countRecalled(items: i32): void {
  atomic.add<i32>(layout.domainCounts + 4 * numberOf(recalled), items);
}

/** Counts items that were not judged here or are taken back. The name is in lower case. */
export function countDomain(start: usize, end: usize, items: i32): void {
  const facts = recall(hash(start, <i32>(end - start), 0), start, end);
  if (mayBeDisposable(facts)) countRecalled(items);
}

export function bucketOf(hash: u64): usize {
  return layout.domains + layout.bucketBytes * <u32>(hash >> 48);
}
