import { definePlugin } from 'nitro';
import { sync } from '../../../sync.ts';

export default definePlugin((nitro) => {
  process.once('SIGTERM', () => sync.drain());
  nitro.hooks.hook('close', () => sync.close());
});
