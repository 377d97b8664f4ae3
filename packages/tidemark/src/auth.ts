/** Authentication: functions for the option `authenticate` of `createSync`, and CORS. */
export { type CORSOptions, withCORS } from './auth/cors.js';
export { type Claims, type JWTAuthOptions, jwtAuth } from './auth/jwt.js';
export { type SessionAuthOptions, sessionAuth } from './auth/session.js';
export type { TokenAlgorithm, TokenKey } from './auth/token-key.js';
