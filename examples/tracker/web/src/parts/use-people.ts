import { useView } from '@tidemark/client/react';
import type { Person } from '../../../src/views.js';
import { useStore } from '../store.js';

const none: readonly Person[] = [];

export function usePeople(): readonly Person[] {
  const { client, people } = useStore();
  return useView(client, 'person', { initial: people }).rows ?? none;
}
