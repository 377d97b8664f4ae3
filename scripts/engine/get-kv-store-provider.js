/** The client always gives the engine a store provider of its own. */
export const getKVStoreProvider = (_log, provider) => provider;
