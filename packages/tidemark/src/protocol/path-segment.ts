/** Encodes any text as one segment of a URL's path. Pure. */

/**
 * The texts that cannot be a segment of a URL even if percent-encoded: the empty text, and `.` and `..`, which URL
 * parsers resolve. `toPathSegment` puts a tilde before them, and before any of them that already begins with tildes.
 */
const unsafe = /^~*\.{0,2}$/;

/** @throws URIError for a text with a lone surrogate */
export function toPathSegment(text: string): string {
  return encodeURIComponent(unsafe.test(text) ? `~${text}` : text);
}

/**
 * Returns the text that a segment stands for.
 * @returns undefined if `toPathSegment` never writes such a segment: a URL parser may have resolved another path to it
 */
export function fromPathSegment(segment: string): string | undefined {
  try {
    const text = decodeURIComponent(segment);
    if (!unsafe.test(text)) return text;
    return text.startsWith('~') ? text.slice(1) : undefined;
  } catch {
    return undefined;
  }
}
