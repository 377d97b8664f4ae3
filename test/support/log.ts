import type { Logger } from '../../packages/tidemark/src/log.js';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

/** A logger that keeps its lines. Like a JSON logger, it serializes each of them immediately. */
export function memoryLog(): { log: Logger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at =
    (level: LogLine['level']) =>
    (fields: object, message: string): void => {
      lines.push({ level, message, fields: JSON.parse(JSON.stringify(fields)) as Record<string, unknown> });
    };
  return { log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }, lines };
}

/** For tests that ignore the log. */
export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };
