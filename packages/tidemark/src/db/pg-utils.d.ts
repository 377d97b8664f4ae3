// The driver's own conversion of bound parameters. The driver's type package does not declare this module.
declare module 'pg/lib/utils.js' {
  const utils: { prepareValue(value: unknown): string | Buffer | null };
  export default utils;
}
