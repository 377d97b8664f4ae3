import { useView } from '@tidemark/client/react';
import type { Person } from '../../../src/views.js';
import { useStore } from '../store.js';

const none: readonly Person[] = [];

export function usePeople(): readonly Person[] {
  return useView(useStore().client, 'person').rows ?? none;
}
