/** What `--help` prints below the commands and options. */
export const help = `
Environment:
  DATABASE_URL         Postgres 15 to 18; if not set, an embedded one keeps its data in .tidemark
  TIDEMARK_DATA        another folder for the embedded database
  PORT, HOST           where serve listens (default: 3000, all addresses)
  LOG_LEVEL            debug, info, warn, error or silent (default: info)
  SYNC_MUTATE_URL      forwards pushes to the application's mutate endpoint
  SYNC_MUTATE_API_KEY  sent there as X-Api-Key
  TIDEMARK_URL         the server URL for call (default: http://localhost:3000)
  TIDEMARK_TOKEN       the token that call sends as Authorization: Bearer

Examples:
  $ tidemark serve
  $ DATABASE_URL=postgres://app@db.example.com/app tidemark migrate
  $ tidemark status --json
  $ tidemark serve --config config/tidemark.config.ts
  $ tidemark openapi > openapi.json
  $ tidemark call list.create '{"id":"l1","name":"Home"}' --token ann
  $ tidemark call list.create - --dry-run < list.json

tidemark.config.ts:
  import { defineConfig } from 'tidemark';
  import { authenticate, mutators, views } from './sync.ts';

  export default defineConfig({ views, mutators, authenticate });

Exit codes:
  0  done
  1  the command failed, status found a problem, or the server refused the call
  2  the command line is wrong, or the args are not JSON
  3  call: the server is unreachable, too slow or busy; a retry may succeed
`;
