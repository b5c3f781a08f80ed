// Random numbers of chaos, which a seed repeats: mulberry32.
let state = 0;

export function seed(number) {
  state = number;
}

/** Returns a number from 0 to 1, which is never reached. */
export function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}

/** Returns a whole number from 0 to `most - 1`. */
export const below = (most) => Math.floor(random() * most);
