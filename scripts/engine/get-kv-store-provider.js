/** The client always gives the engine its own store provider. */
export const getKVStoreProvider = (_log, provider) => provider;
