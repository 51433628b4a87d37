// Random numbers that are the same for a seed on every computer and in every release: xoshiro128** of Blackman and
// Vigna, its state filled by their splitmix64.

/** The next 32 bits, as a whole number. */
export type Random = () => number;

export function seededRandom(seed: number): Random {
  const [first, second] = [splitmix64(seed, 1n), splitmix64(seed, 2n)];
  return xoshiro128([lower(first), upper(first), lower(second), upper(second)]);
}

export function xoshiro128(state: readonly [number, number, number, number]): Random {
  let [a, b, c, d] = state;
  return () => {
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotate(d, 11);
    return result;
  };
}

function rotate(bits: number, by: number): number {
  return (bits << by) | (bits >>> (32 - by));
}

function splitmix64(seed: number, nth: bigint): bigint {
  const state = BigInt.asUintN(64, BigInt(seed) + nth * 0x9e3779b97f4a7c15n);
  const half = BigInt.asUintN(64, (state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n);
  const mixed = BigInt.asUintN(64, (half ^ (half >> 27n)) * 0x94d049bb133111ebn);
  return mixed ^ (mixed >> 31n);
}

function lower(bits: bigint): number {
  return Number(bits & 0xffffffffn);
}

function upper(bits: bigint): number {
  return Number(bits >> 32n);
}

/** From 0 up to, but not including, 1, with 53 random bits. */
export function fraction(random: Random): number {
  const high = random() >>> 5;
  return (high * 2 ** 26 + (random() >>> 6)) / 2 ** 53;
}

/** A whole number below `count`, all equally likely. */
export function below(random: Random, count: number): number {
  const bits = 2 ** 53;
  const fair = bits - (bits % count);
  for (;;) {
    const drawn = fraction(random) * bits;
    if (drawn < fair) return drawn % count;
  }
}

/** Fisher–Yates, in place: all orders are equally likely. */
export function shuffle(items: number[], random: Random): void {
  for (let last = items.length - 1; last > 0; last -= 1) {
    const other = below(random, last + 1);
    [items[last], items[other]] = [items[other] as number, items[last] as number];
  }
}

/** For the job with this number: 31 bits, which every library accepts, and different for every job. */
export function jobSeed(seed: number, number: number): number {
  const mask = 0x7fffffff;
  let bits = (lower(splitmix64(seed, 3n)) + number) & mask;
  // Each step is reversible within 31 bits, so that different numbers stay different.
  bits ^= bits >>> 16;
  bits = Math.imul(bits, 0x45d9f3b) & mask;
  bits ^= bits >>> 15;
  bits = Math.imul(bits, 0x2c1b3c6d) & mask;
  return bits ^ (bits >>> 16);
}
