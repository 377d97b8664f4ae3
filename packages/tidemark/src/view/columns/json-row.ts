/**
 * The type of a value after Postgres has sent it as JSON. JSON's own types stay as they are. The driver's dates and
 * bytes arrive as text. A `bigint` or a decimal arrives as a number, or as text if a JavaScript number cannot hold it.
 * Anything undecidable, such as another object with methods, is `unknown`.
 */
export type AsJSON<Value> = unknown extends Value
  ? unknown
  : Value extends string | number | boolean | null | undefined
    ? Value
    : Value extends bigint | Decimal
      ? number | string
      : Value extends Date | Uint8Array
        ? string
        : HasMethod<Value> extends true
          ? unknown
          : { [Name in keyof Value]: AsJSON<Value[Name]> };

/** The number types of libraries, such as Prisma's `Decimal`. */
interface Decimal {
  toNumber(): number;
}

type Method = (...args: never) => unknown;

type HasMethod<Value> = Value extends readonly unknown[]
  ? false
  : Value extends Method
    ? true
    : Extract<Value[keyof Value], Method> extends never
      ? false
      : true;
