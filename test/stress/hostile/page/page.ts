/** The page of a hostile run. It breaks the platform before it loads the client's code. */
import './platform.js';
import './storage.js';
import './stuck.js';
import './callers.js';
