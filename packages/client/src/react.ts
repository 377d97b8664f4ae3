/** For React: a client's views, mutators and state as hooks. */
'use client';

export { type ClientContext, createClientContext } from './react/client-context.js';
export { useMutate, usePending, useRefused, useStatus } from './react/use-client-state.js';
export { useRow } from './react/use-row.js';
export { type ArrivedView, useSuspenseView } from './react/use-suspense-view.js';
export { useView } from './react/use-view.js';
export type { UseViewOptions, ViewParameters } from './react/view-state.js';
