// @ts-nocheck The types of service workers and those of pages exclude each other.
// Opens the page without a network: keeps the files of one build, and nothing else. Responses of /sync and /api are
// never kept. The build inserts a constant above: `build`, with its `version`, and its `files`, the hashes by path.

const prefix = 'todos-';
const cacheName = prefix + build.version;
/** The time that a page waits for the network, in milliseconds, before it opens without. */
const patienceMs = 3_000;

self.addEventListener('install', (event) => {
  // Open pages continue with the files that they have loaded. The next page is of this build, even without a network.
  self.skipWaiting();
  event.waitUntil(keepFiles());
});

self.addEventListener('activate', (event) => event.waitUntil(deleteOtherBuilds()));

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (request.mode === 'navigate') {
    if (isRoute(pathname)) event.respondWith(openPage(request));
  } else if (Object.hasOwn(build.files, pathname)) {
    event.respondWith(kept(pathname).then((response) => response ?? fetch(request)));
  }
});

/** Fails if the server has the files of another build. The next page tries again. */
async function keepFiles() {
  const cache = await caches.open(cacheName);
  await cache.addAll(Object.entries(build.files).map(([path, integrity]) => new Request(path, { integrity })));
}

async function deleteOtherBuilds() {
  const names = (await caches.keys()).filter((name) => name.startsWith(prefix) && name !== cacheName);
  await Promise.all(names.map((name) => caches.delete(name)));
}

/** Returns the server's page, which is the newest; the kept page if the server does not respond. */
async function openPage(request) {
  const answer = fetch(request);
  const late = new Promise((resolve) => setTimeout(resolve, patienceMs));
  const response = await Promise.race([answer, late]).catch(() => undefined);
  if (response && response.status < 500) return response;
  return (await kept('/')) ?? answer;
}

const kept = async (path) => (await caches.open(cacheName)).match(path, { ignoreVary: true });

/** True if the path is a page of the client: it has no extension, and is not one of the server's paths. */
const isRoute = (path) => !/^\/(sync|api|healthz|readyz)(\/|$)|\.[^/]*$/.test(path);
