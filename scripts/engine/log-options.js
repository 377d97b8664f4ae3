/** Logs errors. The build removes all other log statements of the engine. */

const consoleSink = {
  log: (level, context, ...words) =>
    console[level](...Object.entries(context).map(([name, value]) => `${name}=${value}`), ...words),
};

export const createLogContext = (level, sinks = [consoleSink], context = {}) => ({
  error(...words) {
    for (const sink of sinks) sink.log('error', context, ...words);
  },
  withContext: (name, value) => createLogContext(level, sinks, { ...context, [name]: value }),
});
