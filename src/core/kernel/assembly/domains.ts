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

export function forgetCounts(): void {
  const end = endOfNames();
  for (let name: u32 = firstName; name < end; name = nameAfter(name)) if (isCurrent(name)) store<i32>(countAt(name), 0);
}

/** Writes the addresses of the names with the most items to `to`, most items first, then by name. Returns their number. */
export function topNames(to: usize, most: i32): i32 {
  gatherCounts();
  const end = endOfNames();
  let found: i32 = 0;
  for (let name: u32 = firstName; name < end; name = nameAfter(name)) {
    if (!isCurrent(name) || itemsOf(name) <= 0) continue;
    let place: i32 = found;
    while (place > 0 && isBefore(name, load<u32>(to + 4 * (place - 1)))) {
      if (place < most) store<u32>(to + 4 * place, load<u32>(to + 4 * (place - 1)));
      place--;
    }
    if (place === most) continue;
    store<u32>(to + 4 * place, name);
    if (found < most) found++;
  }
  return found;
}

/** A domain below a listed one has its name: its items are counted there, even if only names below it are disposable. */
function gatherCounts(): void {
  const end = endOfNames();
  for (let name: u32 = firstName; name < end; name = nameAfter(name)) {
    const items = itemsOf(name);
    if (!isCurrent(name) || items === 0) continue;
    const start: usize = name + layout.nameHead;
    recall(hash(start, lengthOf(name), 0), start, nameAfter(name));
    const listed = numberOf(recalled);
    if (listed === load<u32>(name)) continue;
    const known = load<u32>(layout.domainNames + 4 * listed);
    const isNamed = known !== 0 && isSame(known, name);
    // Its own items are counted under another name, or there is no more room for names.
    if (!isNamed && load<i32>(layout.domainCounts + 4 * listed) !== 0) continue;
    if (!isNamed) keepName(listed, start, nameAfter(name));
    if (load<u32>(layout.domainNames + 4 * listed) === 0) continue;
    store<i32>(countAt(name), 0);
    countRecalled(items);
  }
}

const firstName: u32 = layout.names + 4;

function endOfNames(): u32 {
  return firstName + atomic.load<u32>(layout.names);
}

/** Another domain may have taken the place of the one that had the name. */
function isCurrent(name: u32): bool {
  return load<u32>(layout.domainNames + 4 * load<u32>(name)) === name;
}

function lengthOf(name: u32): i32 {
  return load<u8>(name, layout.nameHead - 1);
}

function nameAfter(name: u32): u32 {
  return name + layout.nameHead + lengthOf(name);
}

function countAt(name: u32): usize {
  return layout.domainCounts + 4 * load<u32>(name);
}

export function itemsOf(name: u32): i32 {
  return load<i32>(countAt(name));
}

function isSame(name: u32, other: u32): bool {
  const length = lengthOf(name);
  return length === lengthOf(other) && memory.compare(name + layout.nameHead, other + layout.nameHead, length) === 0;
}

function isBefore(name: u32, other: u32): bool {
  if (itemsOf(name) !== itemsOf(other)) return itemsOf(name) > itemsOf(other);
  const shared = min(lengthOf(name), lengthOf(other));
  const order = memory.compare(name + layout.nameHead, other + layout.nameHead, shared);
  return order === 0 ? lengthOf(name) < lengthOf(other) : order < 0;
}

export function bucketOf(hash: u64): usize {
  return layout.domains + layout.bucketBytes * <u32>(hash >> 48);
}
