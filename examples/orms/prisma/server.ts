import { serve } from '../serve.js';
import { createTables } from './create-tables.js';
import { mutators, tx } from './mutators.js';
import { views } from './views.js';

await serve({ createTables, views, mutators, tx });
