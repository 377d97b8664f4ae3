/** Any text as one segment of a URL's path. Pure. */

/**
 * The texts that a URL cannot have as a segment, however they are percent-encoded: an empty one, `.` and `..`, which
 * URLs resolve. After a tilde they can be a segment, and so can these texts after another tilde.
 */
const unsafe = /^~*\.{0,2}$/;

/** @throws URIError for a text with a lone surrogate */
export function toPathSegment(text: string): string {
  return encodeURIComponent(unsafe.test(text) ? `~${text}` : text);
}

/**
 * The text that a segment stands for.
 * @returns undefined if `toPathSegment` never writes such a segment: it may be what is left of another path
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
