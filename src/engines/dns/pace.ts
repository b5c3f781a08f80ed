/**
 * Decides when the next query may be sent. Servers, routers and public resolvers limit the queries of a client by not
 * answering, and some count what they do not answer, too: who goes on gets no answer at all. So after silence nothing is
 * sent for a while, and then as many queries as have been answered before. Does no I/O, and reads no clock.
 *
 * Only first tries count, in the order in which they were sent: names that nobody answers for are tried again and again,
 * and say nothing about the server; and lost queries are noticed late, many at a time.
 */

/** First tries that are looked at, and how many of them without an answer are silence. */
const looked = 32;
const silence = 16;
/** Pause after silence, in milliseconds. Servers count queries by the second, and those before it too. */
const pause = 2000;
/** Share of the answers of a second that the next ones aim at, and by how much it grows each second. */
const caution = 0.85;
const growth = 1.02;
/** A limit that was known falls by no more: during silence, few answers come whatever the limit is. */
const fall = 0.8;
/** Queries a second after a second with fewer answers, as after an outage, and by how much they grow while answered. */
const slowest = 20;
const recovery = 4;
/** Queries a second that are as good as no limit. */
const fastest = 20_000;

const open = 0;
const answered = 1;
const silent = 2;

export class Pace {
  /** Queries a second; undefined for no limit. */
  #rate: number | undefined;
  readonly #most: number;
  #next = 0;
  /** Outcomes of the last first tries, by their number, how many of them are silent, and the number of the next one. */
  readonly #tries = new Uint8Array(looked);
  #silent = 0;
  #count = 0;
  /** Number of the first try after the last pause. */
  #first = 0;
  /** Start of the current second, its answers, and those of the second before. */
  #second = 0;
  #answers = 0;
  #before = 0;
  /** Whether a server that limits queries has shown its limit. */
  #isFound = false;

  /** @param most queries a second that the user allows; infinite for no limit */
  constructor(most: number) {
    this.#most = most;
  }

  get isLimited(): boolean {
    return this.#rate !== undefined;
  }

  /** Takes a turn. Returns the time at which the query may be sent, in milliseconds. */
  turn(now: number): number {
    const turn = Math.max(now, this.#next);
    this.#next = turn + 1000 / Math.min(this.#rate ?? this.#most, this.#most);
    return turn;
  }

  /** Returns the number of a first try that is sent now. */
  start(): number {
    const slot = this.#count % looked;
    if (this.#tries[slot] === silent) this.#silent--;
    this.#tries[slot] = open;
    return this.#count++;
  }

  /** @param number that of a first try; undefined for others */
  end(number: number | undefined, now: number, isAnswered: boolean): void {
    if (now - this.#second >= 1000) this.#endSecond(now);
    if (isAnswered) this.#answers++;
    if (number === undefined || number < Math.max(this.#first, this.#count - looked)) return;
    this.#tries[number % looked] = isAnswered ? answered : silent;
    if (!isAnswered && ++this.#silent > silence) this.#slowDown(now);
  }

  /** Counts a first try as answered after all: its answer came late. */
  takeBack(number: number | undefined): void {
    this.#answers++;
    if (number === undefined || number < Math.max(this.#first, this.#count - looked)) return;
    if (this.#tries[number % looked] === silent) this.#silent--;
    this.#tries[number % looked] = answered;
  }

  #endSecond(now: number): void {
    if (this.#rate !== undefined && this.#answers > 0) {
      this.#rate *= this.#isFound ? growth : recovery;
      if (this.#rate > fastest) this.#rate = undefined;
    }
    this.#before = now - this.#second < 2000 ? this.#answers : 0;
    this.#answers = 0;
    this.#second = now;
  }

  #slowDown(now: number): void {
    const answers = Math.max(this.#before, this.#answers);
    const known = this.#isFound ? fall * (this.#rate ?? 0) : 0;
    this.#isFound = Math.max(answers, known) > slowest;
    this.#rate = Math.max(slowest, known, caution * Math.min(answers, this.#rate ?? answers));
    this.#next = now + pause;
    this.#first = this.#count;
    this.#tries.fill(open);
    this.#silent = 0;
  }
}
