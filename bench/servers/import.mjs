/** A process that imports what it is told to, once, and answers how long it took in milliseconds. */
process.on('message', async (/** @type {{ name: string }} */ { name }) => {
  const started = performance.now();
  await import(name);
  process.send?.({ ms: performance.now() - started });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ url: '' });
