import { sync } from '../../sync.ts';

process.once('SIGTERM', () => sync.drain());
process.once('sveltekit:shutdown', () => sync.close());
