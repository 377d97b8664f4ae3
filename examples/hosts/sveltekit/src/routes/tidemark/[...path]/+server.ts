import type { RequestHandler } from './$types';
import { sync } from '../../../../../sync.ts';

export const fallback: RequestHandler = ({ request }) => sync.fetch(request);
