/** The page of a hostile run: the platform is broken before the client's code is loaded. */
import './platform.js';
import './storage.js';
import './stuck.js';
import './callers.js';
