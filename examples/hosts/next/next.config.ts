import { fileURLToPath } from 'node:url';
import type { NextConfig } from 'next';

// The root, because the application is beside this folder and not in it.
export default {
  output: 'standalone',
  outputFileTracingRoot: fileURLToPath(new URL('..', import.meta.url)),
} satisfies NextConfig;
