import { tanstackStart } from '@tanstack/react-start/plugin/vite';
import { nitro } from 'nitro/vite';
import { defineConfig } from 'vite';

export default defineConfig({ plugins: [tanstackStart(), nitro({ serverDir: 'server' })] });
