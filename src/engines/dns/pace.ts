/**
 * Decides when the next query may be sent. Does no I/O, and reads no clock. Servers limit a client by not answering,
 * and some count unanswered queries: after silence, nothing is sent for a while. Only first tries count, in their
 * order: names that are retried say nothing about the server, and lost queries are noticed late, many at a time.
 */

/** First tries that are looked at, and how many of them without an answer are silence. */
const looked = 32;
const silence = 16;
/** Pause after silence, in milliseconds. Servers count queries by the second, and those before it too. */
const pause = 2000;
/** Share of the answers of a second that the next ones aim at, and by how much it grows each second. */
const caution = 0.85;
const growth = 1.02;
const fall = 0.8;
/** Queries a second after a second with fewer answers, as after an outage, and by how much they grow while answered. */
const slowest = 20;
const recovery = 4;
const fastest = 20_000;

const open = 0;
const answered = 1;
const silent = 2;

export class Pace {
  /** Queries a second; undefined for no limit. */
  #rate: number | undefined;
  #next = 0;
  readonly #tries = new Uint8Array(looked);
  #silent = 0;
  #count = 0;
  #first = 0;
  #second = 0;
  #answers = 0;
  #before = 0;
  #isFound = false;

  constructor(private readonly most: number) {}

  get isLimited(): boolean {
    return this.#rate !== undefined;
  }

  turn(now: number): number {
    const turn = Math.max(now, this.#next);
    this.#next = turn + 1000 / Math.min(this.#rate ?? this.most, this.most);
    return turn;
  }

  start(): number {
    const slot = this.#count % looked;
    if (this.#tries[slot] === silent) this.#silent--;
    this.#tries[slot] = open;
    return this.#count++;
  }

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
