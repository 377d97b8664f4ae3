import type { NextConfig } from 'next';

export default { output: 'standalone' } satisfies NextConfig;
