/** Imports the module named in a message, once, and answers with the duration in milliseconds. */
process.on('message', async (/** @type {{ name: string }} */ { name }) => {
  const started = performance.now();
  await import(name);
  process.send?.({ ms: performance.now() - started });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ url: '' });
