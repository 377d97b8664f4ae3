/**
 * A checksum of rows that rows can be added to and taken from. Where two differ in few rows, they name them.
 *
 * It is an invertible Bloom lookup table (Goodrich and Mitzenmacher, 2011) over hashes of 31 bits. Each row counts in
 * one cell of each of three groups. A cell holds how many rows there are, the sum of their hashes and the sum of the
 * squares: where the difference of two checksums has a cell of one row, these agree, and give the row away; without it,
 * other cells may be left with one row.
 */

interface Cell {
  readonly count: number;
  /** Modulo 2⁶⁴, as is the next. */
  readonly sum: bigint;
  readonly squares: bigint;
}

/** Of the rows of one view. */
export type Checksum = readonly Cell[];

/** What a statement says of a cell that is not empty: its place, count, sum and squares. */
export type CellFields = readonly [place: number, count: number, sum: string, squares: string];

export const groups = 3;
/** In a group, as a power of two: so many bits of the hash say which. */
export const cellBits = 3;
const cells = groups << cellBits;
/** A count takes 4 bytes, the sums 8 each. */
const cellBytes = 20;

const empty: Cell = { count: 0, sum: 0n, squares: 0n };

export function toChecksum(fields: readonly CellFields[]): Checksum {
  const checksum: Cell[] = Array.from({ length: cells }, () => empty);
  for (const [place, count, sum, squares] of fields) checksum[place] = cell(count, BigInt(sum), BigInt(squares));
  return checksum;
}

/** The checksum of the rows of both. */
export function add(one: Checksum, other: Checksum): Checksum {
  return one.map((a, i) => plus(a, other[i]!, 1));
}

export interface Difference {
  /** The hashes of rows that the first has and the second has not. */
  readonly surplus: readonly number[];
  /** The hashes of rows that the second has and the first has not. */
  readonly missing: readonly number[];
  /** There are no more of them. */
  readonly isWhole: boolean;
}

/** In what rows two checksums differ; undefined when they do not. */
export function differenceOf(one: Checksum, other: Checksum): Difference | undefined {
  const left = one.map((a, i) => plus(a, other[i]!, -1));
  if (left.every(isEmpty)) return undefined;
  const surplus: number[] = [];
  const missing: number[] = [];
  // No difference that can be named has more rows than there are cells: what goes on longer goes round in circles.
  while (surplus.length + missing.length < cells) {
    const single = left.find(isSingle);
    if (!single) break;
    const hash = Number(hashOf(single));
    (single.count > 0 ? surplus : missing).push(hash);
    for (let group = 0; group < groups; group++) {
      const place = placeOf(hash, group);
      left[place] = plus(left[place]!, single, -1);
    }
  }
  return { surplus, missing, isWhole: left.every(isEmpty) };
}

/** As text, without spaces. */
export function encodeChecksum(checksum: Checksum): string {
  const bytes = Buffer.alloc(cells * cellBytes);
  for (const [i, { count, sum, squares }] of checksum.entries()) {
    bytes.writeInt32BE(count, i * cellBytes);
    bytes.writeBigUInt64BE(sum, i * cellBytes + 4);
    bytes.writeBigUInt64BE(squares, i * cellBytes + 12);
  }
  return bytes.toString('base64url');
}

/** @param text from `encodeChecksum` */
export function decodeChecksum(text: string): Checksum {
  const bytes = Buffer.from(text, 'base64url');
  return Array.from({ length: cells }, (_, i) => ({
    count: bytes.readInt32BE(i * cellBytes),
    sum: bytes.readBigUInt64BE(i * cellBytes + 4),
    squares: bytes.readBigUInt64BE(i * cellBytes + 12),
  }));
}

function cell(count: number, sum: bigint, squares: bigint): Cell {
  return { count, sum: BigInt.asUintN(64, sum), squares: BigInt.asUintN(64, squares) };
}

function plus(a: Cell, b: Cell, sign: 1 | -1): Cell {
  const times = BigInt(sign);
  return cell(a.count + sign * b.count, a.sum + times * b.sum, a.squares + times * b.squares);
}

function isEmpty({ count, sum, squares }: Cell): boolean {
  return count === 0 && sum === 0n && squares === 0n;
}

function isSingle(one: Cell): boolean {
  if (Math.abs(one.count) !== 1) return false;
  const hash = hashOf(one);
  return hash < 2n ** 31n && BigInt.asUintN(64, one.squares * BigInt(one.count)) === hash * hash;
}

/** Of a cell of one row. */
function hashOf({ count, sum }: Cell): bigint {
  return BigInt.asUintN(64, sum * BigInt(count));
}

/** The same as the statement has it. */
function placeOf(hash: number, group: number): number {
  return (group << cellBits) + ((hash >> (group * cellBits)) & ((1 << cellBits) - 1));
}
