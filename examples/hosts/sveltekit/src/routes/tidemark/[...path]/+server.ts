import { sync } from '../../../../../sync.ts';
import type { RequestHandler } from './$types';

export const fallback: RequestHandler = ({ request }) => sync.fetch(request);
