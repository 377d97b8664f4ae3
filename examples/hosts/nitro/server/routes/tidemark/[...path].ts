import { defineHandler } from 'nitro';
import { sync } from '../../../../sync.ts';

export default defineHandler((event) => sync.fetch(event.req));
