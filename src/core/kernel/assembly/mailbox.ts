/** The rules about local parts that the kernel has. */
import { dot, nine, plus, zero } from "../../ascii";
import * as layout from "../layout";

/** Applies the rules in the order of `classifyMailbox` in classifier/rules/mailbox/mailbox.ts. */
export function judgeMailbox(facts: u32, start: usize, plusAt: usize, end: usize): u32 {
  if ((facts & layout.hasPlaceholders) !== 0 && mayBePlaceholder(start, end)) return layout.askCode;
  const grammar: u32 = (facts >> layout.grammarShift) & layout.grammarMask;
  if ((facts & layout.hasNoPlus) !== 0 && plusAt !== end) return layout.impossibleMailboxCode;
  if (grammar !== 0 && !isPossible(layout.grammars + layout.grammarBytes * grammar, start, plusAt)) {
    const first: i32 = load<u8>(start);
    return first === plus || (first >= zero && first <= nine) ? layout.askCode : layout.impossibleMailboxCode;
  }
  if ((facts & layout.isRelay) !== 0) return layout.relayCode;
  const isTagged = plusAt > start && plusAt + 1 < end;
  return isTagged || (facts & layout.isSubAddress) !== 0 ? layout.subAddressCode : layout.okCode;
}

/** See `findImpossibleMailbox` in classifier/rules/mailbox/impossible-mailbox.ts. */
function isPossible(grammar: usize, start: usize, end: usize): bool {
  const dots: u32 = load<u32>(grammar + layout.dotsAt);
  let length: u32 = 0;
  let last: u32 = 0;
  for (let p: usize = start; p < end; p++) {
    const byte: u8 = load<u8>(p);
    if (byte === dot && dots !== layout.freeDots) {
      if (p === start || load<u8>(p - 1) === dot || p + 1 === end) return false;
      if (dots === layout.ignoredDots) continue;
    }
    const positions: u32 = load<u8>(grammar + byte);
    if ((positions & (length === 0 ? layout.startPosition : layout.insidePosition)) === 0) return false;
    last = positions;
    length++;
  }
  return (
    length >= load<u32>(grammar + layout.shortestAt) &&
    length <= load<u32>(grammar + layout.longestAt) &&
    (last & layout.endPosition) !== 0
  );
}

/** See `startsLikePlaceholder` in classifier/rules/mailbox/placeholder.ts. */
function mayBePlaceholder(start: usize, end: usize): bool {
  let letters: u32 = 0;
  let count: i32 = 0;
  // The last bits of a letter of two bytes are those of its second one.
  for (let p: usize = start; p < end && count < 3; p++, count++) {
    if (load<u8>(p) >= 0xc2) p++;
    letters = (letters << 5) | (<u32>load<u8>(p) & 31);
  }
  return count === 3 && ((load<u8>(layout.placeholders + (letters >> 3)) >> <u8>(letters & 7)) & 1) !== 0;
}
