/** Sends requests, and reports the progress of their responses. */

/** A response with its whole body. */
export interface TextResponse {
  readonly status: number;
  readonly text: string;
}

export interface PostOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly credentials?: RequestCredentials | undefined;
}

/** The deadline of a request. */
export interface RequestDeadline {
  /** Aborts the request. */
  readonly signal: AbortSignal;
  /**
   * Moves the deadline, because the headers or more of the body have arrived.
   * @param bytes the size of the body so far
   */
  extend(bytes?: number): void;
}

/**
 * Posts a request.
 * @throws if the deadline aborts it, and TypeError if there is no response
 */
export type Post = (url: string, options: PostOptions, deadline: RequestDeadline) => Promise<TextResponse>;

/**
 * Posts with XMLHttpRequest where it exists, and otherwise with `fetch`. Reading a `fetch` body as a stream makes
 * Chromium abort some requests at their end, and React Native does not support it.
 */
export const post: Post = (...args) => (globalThis.XMLHttpRequest ? postWithXHR(...args) : postWithFetch(...args));

const postWithXHR: Post = (url, { headers, body, credentials }, deadline) =>
  new Promise((resolve, reject) => {
    const { signal } = deadline;
    const xhr = new XMLHttpRequest();
    const abort = () => xhr.abort();
    signal.addEventListener('abort', abort);
    xhr.onreadystatechange = () => xhr.readyState >= xhr.HEADERS_RECEIVED && deadline.extend();
    xhr.onprogress = ({ loaded }) => deadline.extend(loaded);
    xhr.onload = () => resolve({ status: xhr.status, text: xhr.responseText });
    xhr.onerror = () => reject(new TypeError('The request got no response'));
    xhr.onabort = () => reject(new Error('The request was aborted'));
    xhr.onloadend = () => signal.removeEventListener('abort', abort);
    xhr.open('POST', url);
    xhr.withCredentials = credentials === 'include';
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
    xhr.send(body);
    if (signal.aborted) abort();
  });

const postWithFetch: Post = async (url, { credentials, ...options }, deadline) => {
  const { signal } = deadline;
  const response = await fetch(url, { method: 'POST', ...options, ...(credentials && { credentials }), signal });
  deadline.extend();
  const { status } = response;
  if (!response.body) return { status, text: '' };
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    bytes += value?.length ?? 0;
    deadline.extend(bytes);
    if (done) return { status, text: text + decoder.decode() };
    text += decoder.decode(value, { stream: true });
  }
};
