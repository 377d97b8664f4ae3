import { listen, logFromEnvironment } from 'tidemark/node';
import { sync } from '../sync.ts';

// Ends on SIGTERM by itself.
await listen(sync, { log: logFromEnvironment(), hostname: process.env.HOST, port: Number(process.env.PORT) });
