import { defineConfig } from 'nitro';

export default defineConfig({ serverDir: 'server', compatibilityDate: '2026-01-01' });
