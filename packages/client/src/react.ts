/** For React: a client's views, mutators and state as hooks. */
'use client';

export { type ClientContext, createClientContext } from './react/client-context.js';
export { useMutate, usePending, useRefused, useStatus } from './react/use-client-state.js';
export { type UseViewOptions, useRow, useView } from './react/use-view.js';
