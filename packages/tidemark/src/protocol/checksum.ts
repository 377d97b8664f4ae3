/**
 * A checksum of a set of rows. Rows can be added to it and removed from it. If two checksums differ in only a few rows,
 * the difference reveals the hashes of these rows.
 *
 * It is an invertible Bloom lookup table (Goodrich and Mitzenmacher, 2011) over 31-bit hashes. Each row is counted in
 * one cell of each of three groups. A cell holds the number of its rows, the sum of their hashes and the sum of the
 * squares of the hashes. If a cell in the difference of two checksums holds a single row, these three are consistent,
 * and reveal the row. Subtracting that row may leave other cells with a single row.
 */

interface Cell {
  readonly count: number;
  /** Modulo 2⁶⁴. */
  readonly sum: bigint;
  /** Modulo 2⁶⁴. */
  readonly squares: bigint;
}

/** The checksum of the rows of one view. */
export type Checksum = readonly Cell[];

/** A non-empty cell, as a statement returns it: its index, count, sum and squares. */
export type CellFields = readonly [index: number, count: number, sum: string, squares: string];

/** The number of groups of cells. */
export const groups = 3;
/** The number of bits of the hash that choose the cell. A group has `2 ** cellBits` cells. */
export const cellBits = 3;
const cells = groups << cellBits;
/** A count takes 4 bytes, each of the two sums 8. */
const cellBytes = 20;

const empty: Cell = { count: 0, sum: 0n, squares: 0n };

/** Returns the checksum with these cells. All other cells are empty. */
export function toChecksum(fields: readonly CellFields[]): Checksum {
  const checksum: Cell[] = Array.from({ length: cells }, () => empty);
  for (const [index, count, sum, squares] of fields) checksum[index] = cell(count, BigInt(sum), BigInt(squares));
  return checksum;
}

/** The checksum of the empty set. */
export const noRows: Checksum = toChecksum([]);

/** Returns the checksum of the rows of both checksums. */
export function add(one: Checksum, other: Checksum): Checksum {
  return one.map((a, i) => addCell(a, other[i]!, 1));
}

/** The rows by which two checksums differ, as far as the checksums reveal them. */
export interface Difference {
  /** The hashes of rows that only the first checksum has. */
  readonly surplus: readonly number[];
  /** The hashes of rows that only the second checksum has. */
  readonly missing: readonly number[];
  /** True if these are all the rows that differ. */
  readonly isWhole: boolean;
}

/** Returns the rows by which two checksums differ; undefined if the checksums are equal. */
export function differenceOf(one: Checksum, other: Checksum): Difference | undefined {
  const left = one.map((a, i) => addCell(a, other[i]!, -1));
  if (left.every(isEmpty)) return undefined;
  const surplus: number[] = [];
  const missing: number[] = [];
  // A difference that can be decoded has at most as many rows as cells. Without a limit, the loop might not end.
  while (surplus.length + missing.length < cells) {
    const single = left.find(isSingle);
    if (!single) break;
    const hash = Number(hashOf(single));
    (single.count > 0 ? surplus : missing).push(hash);
    for (let group = 0; group < groups; group++) {
      const index = indexOf(hash, group);
      left[index] = addCell(left[index]!, single, -1);
    }
  }
  return { surplus, missing, isWhole: left.every(isEmpty) };
}

/** Encodes a checksum as text without spaces. */
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

function addCell(a: Cell, b: Cell, sign: 1 | -1): Cell {
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

/** Returns the hash of the row in a cell that holds a single row. */
function hashOf({ count, sum }: Cell): bigint {
  return BigInt.asUintN(64, sum * BigInt(count));
}

/** Returns the index of a hash's cell in a group. The SQL that computes checksums uses the same formula. */
function indexOf(hash: number, group: number): number {
  return (group << cellBits) + ((hash >> (group * cellBits)) & ((1 << cellBits) - 1));
}
