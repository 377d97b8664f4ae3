/**
 * What is left of a type when its value has come from Postgres as JSON. Types that are JSON's own stay as they are. The
 * driver's dates and bytes arrive as text, and a `bigint` or a decimal as a number or, beyond what a number holds, as text.
 * What cannot be known, such as another object with methods, is `unknown`.
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

/** Numbers of libraries, such as Prisma's `Decimal`. */
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
