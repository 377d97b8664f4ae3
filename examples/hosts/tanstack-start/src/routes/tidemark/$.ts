import { createFileRoute } from '@tanstack/react-router';
import { sync } from '../../../../sync';

export const Route = createFileRoute('/tidemark/$')({
  server: { handlers: { ANY: ({ request }) => sync.fetch(request) } },
});
