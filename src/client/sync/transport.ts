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
  readonly signal: AbortSignal;
  /** Called when the headers arrive, and each time that more of the body arrives. */
  readonly onProgress: () => void;
}

/**
 * Posts a request.
 * @throws if the signal is aborted, and TypeError if there is no response
 */
export type Post = (url: string, options: PostOptions) => Promise<TextResponse>;

/**
 * Posts with XMLHttpRequest where it exists, and otherwise with `fetch`. Reading a `fetch` body as a stream makes
 * Chromium abort some requests at their end, and React Native does not support it.
 */
export const post: Post = (url, options) =>
  globalThis.XMLHttpRequest ? postWithXHR(url, options) : postWithFetch(url, options);

const postWithXHR: Post = (url, { headers, body, credentials, signal, onProgress }) =>
  new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    const abort = () => xhr.abort();
    signal.addEventListener('abort', abort);
    xhr.onreadystatechange = () => xhr.readyState >= xhr.HEADERS_RECEIVED && onProgress();
    xhr.onprogress = onProgress;
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

const postWithFetch: Post = async (url, { onProgress, credentials, ...options }) => {
  const response = await fetch(url, { method: 'POST', ...options, ...(credentials && { credentials }) });
  onProgress();
  const { status } = response;
  if (!response.body) return { status, text: '' };
  const decoder = new TextDecoder();
  let text = '';
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    onProgress();
    if (done) return { status, text: text + decoder.decode() };
    text += decoder.decode(value, { stream: true });
  }
};
