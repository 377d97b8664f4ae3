// The driver's own conversion of bound parameters; its type package leaves this module out.
declare module 'pg/lib/utils.js' {
  const utils: { prepareValue(value: unknown): string | Buffer | null };
  export default utils;
}
